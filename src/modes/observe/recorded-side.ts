import type { RecordedSide } from '../../diff/records/record.ts'
import { isObject } from '../../tables/json.ts'
import type { SideAnswer } from './ask.ts'

/** Returns the side of a comparison as records show it. */
export function sideOf({ seen: { status, body }, ms }: SideAnswer): RecordedSide {
  const code = status >= 400 && body.kind === 'json' && isObject(body.value) ? body.value.code : undefined
  return { status, ...(typeof code === 'number' && { code }), ms }
}
