import type { Operation } from '../../tables/operation.ts'
import { createRedactor, type RedactLimits, type RedactSettings } from './redact.ts'
import { type Redacted, redactedAlike, redactedWith } from './redacted.ts'
import { createRedactionKey, type RedactionKey } from './redaction-key.ts'

/** What redacts the records of a process. */
export interface Redaction {
  readonly key: RedactionKey
  /** Redacts the data of one operation. */
  readonly redacted: (operation: Operation) => Redacted
  /** Redacts data of any operation without a cut. */
  readonly whole: () => Redacted
}

/** The bodies of an exhibit must run again, so they are redacted but not cut. */
const WHOLE: RedactLimits = { text: 10_000, items: 10_000, members: 10_000, depth: 100 }

export interface RedactionSettings extends Pick<RedactSettings, 'values' | 'isName'> {
  readonly operations: readonly Operation[]
}

export function createRedaction({ values, isName, operations }: RedactionSettings): Redaction {
  const key = createRedactionKey()
  const settings = { values, key: key.text, isName }
  return {
    key,
    redacted: redactedWith(createRedactor(settings)),
    whole: redactedAlike(operations, createRedactor({ ...settings, limits: WHOLE })),
  }
}
