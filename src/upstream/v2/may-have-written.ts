import type { ApiError } from '../../errors/api-error.ts'
import type { CodeName } from '../../errors/codes.ts'
import { asApiError } from '../../errors/to-v1.ts'
import type { JsonObject } from '../../tables/json.ts'
import type { CallContext } from './call-context.ts'
import type { Landing } from './flights/landing.ts'

/** Errors of a write that certainly wrote nothing. Callers without rights get no others. A rate is refused before the work (RFC 6585 §4). */
const REFUSALS: ReadonlySet<CodeName> = new Set<CodeName>([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'INVALID_ARGUMENT',
  'RESOURCE_EXHAUSTED',
])

/**
 * True if a write that ended with this error may have been done. A 503 does not say whether the service, or a gateway before it, gave up
 * before or after the work.
 */
export function mayHaveWritten({ code, unsent }: ApiError): boolean {
  return !unsent && !REFUSALS.has(code)
}

/** Lands a write: it tells first whether something may have been written. A class, because every write has one. */
export class WriteLanding implements Landing<JsonObject> {
  readonly #context: CallContext
  readonly #over: (mayHaveWritten: boolean) => void
  readonly #landing: Landing<JsonObject>

  constructor(context: CallContext, over: (mayHaveWritten: boolean) => void, landing: Landing<JsonObject>) {
    this.#context = context
    this.#over = over
    this.#landing = landing
  }

  landed(body: JsonObject): void {
    this.#end(true)
    this.#landing.landed(body)
  }

  failed(error: Error): void {
    this.#end(mayHaveWritten(asApiError(error)))
    this.#landing.failed(error)
  }

  #end(mayHave: boolean): void {
    this.#over(mayHave)
    if (mayHave) this.#context.onWritten?.()
  }
}
