import { ApiError } from '../errors/api-error.ts'
import type { JsonObject } from '../mapping/json.ts'
import { cancelledBy, createMake, parse, type SendFor, type SendSettings, targetOf } from './send.ts'

/**
 * The way of a Call to v2 when a side is only asked. It can read and nothing else: a write reaches exactly one side (design §7). Nothing is
 * shared with what is under way or was kept, because an older answer than the other side's would look like a difference; only within
 * one request is a look-up made once.
 */
export function createReadOnce(settings: Omit<SendSettings, 'keep' | 'bulkCalls'>): SendFor {
  const make = createMake(settings)
  return (context) => {
    const known = new Map<string, Promise<JsonObject>>()
    const read = async (call: Parameters<ReturnType<SendFor>>[0]) => {
      if (call.method !== 'GET') throw new ApiError('INTERNAL', 'a side that is only asked is never written to')
      return parse(await cancelledBy(context.signal, make(context, call, targetOf(call))))
    }
    return (call) => {
      if (!call.keep) return read(call)
      const answer = known.get(call.keep.key) ?? read(call)
      known.set(call.keep.key, answer)
      return answer
    }
  }
}
