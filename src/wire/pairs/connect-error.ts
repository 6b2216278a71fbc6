import { CODES, codeName } from '../../errors.ts'
import { unpadded } from '../status/status-bytes.ts'
import type { WireStatus } from '../wire-call.ts'

/** An error as Connect answers it. */
export interface ConnectError {
  /** Of HTTP. */
  readonly status: number
  /** JSON. */
  readonly text: string
}

/** Writes a status as an error of Connect: `{"code":"not_found","message":"no such role"}`. Its HTTP status is that of a gRPC gateway. */
export function connectError({ code, message, details }: WireStatus): ConnectError {
  const name = codeName(code)
  const written = details.map(({ type, value }) => ({ type, value: unpadded(value) }))
  const error = {
    code: NAMES[name] ?? name.toLowerCase(),
    ...(message !== '' && { message }),
    ...(written.length > 0 && { details: written }),
  }
  return { status: CODES[name].http, text: JSON.stringify(error) }
}

/** Connect spells one name in another way. */
const NAMES: Readonly<Record<string, string>> = { CANCELLED: 'canceled' }
