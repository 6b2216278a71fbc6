import type { Answer } from '../target.ts'
import { type Detail, errorOf, okOf } from './answer.ts'
import type { Client } from './carry.ts'
import { readMessage, writeMessage } from './protojson.ts'

const NAMES = [
  'ok',
  'canceled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
]

/** An error of Connect as JSON. */
interface ConnectError {
  readonly code: string
  readonly message?: string
  readonly details?: readonly { readonly type: string; readonly value: string }[]
}

/** Speaks Connect with JSON by fetch alone. */
export function connectClient(url: string): Client {
  return {
    async call({ method: { path, input, output }, message, headers }, token) {
      const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', ...authorization, ...headers },
        body: JSON.stringify(writeMessage(input, message)),
      })
      return connectAnswer(output, JSON.parse(await response.text()))
    },
    close: () => {},
  }
}

/** Returns an answer of Connect as REST would give it. An error has a code as text; no v1 message has. */
export function connectAnswer(output: string, json: unknown): Answer {
  const { code, message = '', details = [] } = json as ConnectError
  if (!NAMES.includes(code)) return okOf(output, readMessage(output, json))
  return errorOf(NAMES.indexOf(code), message, details.map(detailOf))
}

const detailOf = ({ type, value }: { type: string; value: string }): Detail => ({ type, value: Buffer.from(value, 'base64') })
