import { type ApiError, brokenAnswer, type ErrorForm, fromV2 } from '../../errors.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { ARRIVED_MEMORY } from '../../tables/text/engine.ts'
import { parseJson } from '../../tables/text/parse-json.ts'
import type { Call } from '../../tables/turn.ts'
import { textOf } from '../utf8.ts'
import type { CallContext } from './call-context.ts'
import type { RawAnswer } from './exchange.ts'
import type { Landing } from './flights/landing.ts'

/** Returns the answer in the form that the call prefers, or parsed. Throws an ApiError. */
export function bodyOf(call: Call, raw: RawAnswer, context: CallContext, errors?: ErrorForm): JsonObject {
  return (call.read && readAs(call.read, raw, context)) ?? parse(raw, errors)
}

/** Returns the answer in the form that the call prefers, if it is a success and has that form. */
export function readAs(read: NonNullable<Call['read']>, { status, pieces }: RawAnswer, context: CallContext): JsonObject | undefined {
  if (status !== 200) return undefined
  const body = read(pieces)
  if (!body) context.onParsed?.()
  return body
}

/**
 * v2 answers 200 (facts §15). 201 and 204 mean the same for a create and a DELETE.
 * Other 2xx statuses say that the body is not v2's answer: not yet (202), changed on the way (203), a part (206).
 */
const SUCCESSES: ReadonlySet<number> = new Set([200, 201, 204])

/** Returns the JSON body of an answer, or `{}` without one. An answer other than a success is an ApiError, read in the API's form. */
export function parse({ status, headers, pieces }: RawAnswer, errors?: ErrorForm): JsonObject {
  const text = textOf(pieces)
  if (!SUCCESSES.has(status)) throw fromV2({ status, headers, text }, errors)
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = parseJson(text)
  } catch (error) {
    throw brokenAnswer(error)
  }
  if (!isObject(body)) throw brokenAnswer(new TypeError('the body is not a JSON object'))
  return body
}

/**
 * Delivers the content of an answer and gives its memory back. Others who share the answer read it in the same turn of the event loop,
 * before further bytes can arrive. A class, because every read has one.
 */
export class ParsedLanding implements Landing<RawAnswer> {
  readonly #call: Call
  readonly #context: CallContext
  readonly #landing: Landing<JsonObject>
  readonly #errors: ErrorForm | undefined

  constructor(call: Call, context: CallContext, landing: Landing<JsonObject>, errors: ErrorForm | undefined) {
    this.#call = call
    this.#context = context
    this.#landing = landing
    this.#errors = errors
  }

  landed(raw: RawAnswer): void {
    let body: JsonObject
    try {
      body = bodyOf(this.#call, raw, this.#context, this.#errors)
    } catch (error) {
      this.#landing.failed(error as ApiError)
      return
    } finally {
      for (const piece of raw.pieces) ARRIVED_MEMORY.give(piece)
    }
    this.#landing.landed(body)
  }

  failed(error: Error): void {
    this.#landing.failed(error)
  }
}
