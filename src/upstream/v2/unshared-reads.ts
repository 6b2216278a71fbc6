import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../tables/json.ts'
import type { Call } from '../../tables/turn.ts'
import { parse, readAs } from './call-answer.ts'
import type { CallContext } from './call-context.ts'
import type { RawAnswer } from './exchange.ts'
import { type Landing, tell } from './flights/landing.ts'
import { waitFor } from './flights/passenger.ts'
import { createMake, type MakeSettings, targetOf } from './make-call.ts'

export interface ReadContext extends CallContext {
  /** Called with every answer as v2 sent it. */
  readonly onAnswer?: ((call: Call, answer: RawAnswer) => void) | undefined
}

/** Makes v2 reads for one v1 request and delivers the JSON body or an ApiError. The context's `room` bounds all their answers. */
export type UnsharedReads = (context: ReadContext) => (call: Call, landing: Landing<JsonObject>) => void

/**
 * Sends the calls of a side that is only compared. It can only read: a write reaches exactly one side (design §7).
 * It shares no reads in flight or cached ones, because an older answer than the other side's would look like a difference.
 * Only look-ups within one request are made once.
 */
export function createUnsharedReads(settings: MakeSettings): UnsharedReads {
  const make = createMake(settings)
  return (context) => {
    const known = new Map<string, Promise<JsonObject>>()
    const read = async (call: Call) => {
      if (call.method !== 'GET') throw new ApiError('INTERNAL', 'a side that is only asked is never written to')
      const answer = await waitFor<RawAnswer>(context.signal, (landing) => make(context, call, targetOf(call), landing))
      context.onAnswer?.(call, answer)
      return (call.read && readAs(call.read, answer, context)) ?? parse(answer, settings.errors)
    }
    const shared = (call: Call, key: string) => {
      const answer = known.get(key) ?? read(call)
      known.set(key, answer)
      return answer
    }
    return (call, landing) => tell(call.keep ? shared(call, call.keep.key) : read(call), landing)
  }
}
