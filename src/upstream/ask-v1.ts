import { ApiError, type CodeName, fromTransport } from '../errors.ts'
import { type AskRest, type AskRestSettings, createAskRest } from './ask-rest.ts'

/** Sends a request to the v1 service once. Rejects with an ApiError if no answer arrives. */
export function createAskV1(settings: Omit<AskRestSettings, 'service'>): AskRest {
  const ask = createAskRest({ service: 'v1', ...settings })
  return async (request, signal) => {
    try {
      return await ask(request, signal)
    } catch (error) {
      throw fromV1Transport(error)
    }
  }
}

const SENTENCES: Partial<Record<CodeName, string>> = {
  DEADLINE_EXCEEDED: 'the v1 service did not answer in time',
  UNAVAILABLE: 'the v1 service cannot be reached',
}

/** The error of a call to v1 without an answer. */
export function fromV1Transport(cause: unknown): ApiError {
  const { code, message, unsent } = fromTransport(cause)
  return new ApiError(code, SENTENCES[code] ?? message, { cause, ...(unsent && { unsent }) })
}
