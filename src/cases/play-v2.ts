import { ApiError } from '../errors.ts'
import type { Exhibit } from '../migrate/records/record.ts'
import type { Send } from '../serve/calls.ts'
import { bodyOf } from '../serve/upstream/send.ts'

/** v2 as a record has it. */
export interface PlayedV2 {
  readonly send: Send
  /** The calls that the record has no answer to. */
  readonly missing: () => readonly string[]
}

/** Answers each call with the next recorded answer of its method and path, as if v2 had sent it. */
export function playV2(recorded: Exhibit['v2']): PlayedV2 {
  const left = [...recorded]
  const missing: string[] = []
  return {
    missing: () => missing,
    send(call, landing) {
      const at = left.findIndex(({ method, path }) => method === call.method && path === call.path)
      const [answer] = at < 0 ? [] : left.splice(at, 1)
      if (!answer) {
        missing.push(`${call.method} ${call.path}`)
        return landing.failed(new ApiError('UNAVAILABLE', 'the record ends here'))
      }
      try {
        landing.landed(
          bodyOf(call, { status: answer.status, headers: {}, pieces: [Buffer.from(JSON.stringify(answer.body ?? {}))] }, CONTEXT),
        )
      } catch (error) {
        landing.failed(error as Error)
      }
    },
  }
}

const CONTEXT = { headers: {}, requestId: 'case', signal: new AbortController().signal, onCall: () => undefined }
