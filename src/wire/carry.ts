import { ApiError } from '../errors/api-error.ts'
import type { CallSignal } from './call-signal.ts'
import type { Inflated } from './framing/gzip.ts'
import { failureStatus } from './status/wire-failure.ts'
import type { WireCall, WireHandler, WireReply } from './wire-call.ts'

/** One call, and the way back to its client, whichever protocol carries it. */
export interface Carried {
  readonly call: Omit<WireCall, 'message' | 'signal'>
  readonly signal: CallSignal
  /** Reads the message. Rejects with the ApiError for what is wrong with the request. */
  read(): Promise<Inflated>
  /** Sends the answer, if the client is still there. */
  write(reply: WireReply): void | Promise<void>
}

/** Serves one call. The client gets exactly one answer, at the latest when the signal fires. */
export async function carry({ call, signal, read, write }: Carried, handler: WireHandler, failed: (error: unknown) => void): Promise<void> {
  let isAnswered = false
  const rescue = (unwritable: unknown) => {
    failed(unwritable)
    return write({ status: failureStatus(unwritable) })
  }
  const answer = (reply: WireReply): void | Promise<void> => {
    if (isAnswered) return
    isAnswered = true
    signal.answered()
    try {
      return write(reply)?.catch(rescue)
    } catch (unwritable) {
      return rescue(unwritable)
    }
  }
  const fail = (thrown: unknown) => {
    if (!(thrown instanceof ApiError)) failed(thrown)
    answer({ status: failureStatus(thrown) })?.catch(failed)
  }
  if (signal.aborted) return fail(signal.reason)
  signal.addEventListener('abort', () => fail(signal.reason))
  let release = () => {}
  try {
    const inflated = await read()
    release = inflated.release
    if (!signal.aborted) await answer(await handler({ ...call, message: inflated.message, signal }))
  } catch (thrown) {
    fail(thrown)
  } finally {
    release()
  }
}
