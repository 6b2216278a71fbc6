import { createRouter, type Router } from '../request/router.ts'
import { createOnlyV1, type OnlyV1, type Operation } from '../tables/operation.ts'
import type { TranslateSettings } from '../translate/translated.ts'
import type { SendFor } from '../upstream/v2/send.ts'
import { createKnownReads, type KnownReads } from './known-reads.ts'
import { createNameForLog, type NameForLog } from './name-for-log.ts'
import type { Sides } from './sides.ts'

/** Counts a finished call to v2. `status` is undefined if no answer arrived. */
export type EndCall = (status: number | undefined, seconds: number, traceId: string | undefined) => void

export interface CoreSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number }
}

export interface CoreParts {
  readonly operations: readonly Operation[]
  readonly sendFor: SendFor
  readonly modes: Sides
  /** Counts a finished call to v2. */
  readonly endCall: EndCall
  /** True if a v1 service also stands behind the proxy. */
  readonly hasV1: boolean
  readonly settings: CoreSettings
}

/** The parts that serve v1 requests, independent of the protocol. */
export interface Core extends CoreParts {
  readonly router: Router
  readonly onlyV1: OnlyV1
  readonly reads: KnownReads
  readonly nameForLog: NameForLog
}

export function createCore(parts: CoreParts): Core {
  const { operations, hasV1 } = parts
  return {
    ...parts,
    router: createRouter(operations),
    onlyV1: createOnlyV1(hasV1 ? operations : []),
    reads: createKnownReads(),
    nameForLog: createNameForLog(operations),
  }
}
