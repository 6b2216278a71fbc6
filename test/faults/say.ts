import type { WireAnswer } from './wire.ts'

/**
 * Describes an answer in a few words: `200, 3 rows`, `503/14`, `429/8, again after 7 s`, `broken off`.
 * An error that v1 does not have is named.
 */
export function say(answer: WireAnswer | undefined): string {
  if (!answer || answer.status === 0) return 'no answer'
  if (answer.broken) return 'broken off'
  const { status, headers, body } = answer
  const type = headers.get('content-type')
  const coding = headers.get('content-encoding')
  if (status < 400) return `${status}${coding === undefined ? rowsIn(body, type) : ` ${coding}`}`
  if (body === '') return `${status}, empty`
  const code = errorIn(body, type)
  const again = headers.get('retry-after')
  return `${code === undefined ? otherError(status, type) : `${status}/${code}`}${again === undefined ? '' : `, again after ${again} s`}`
}

/** Returns the message of an error in v1's form. */
export function messageIn({ body }: Pick<WireAnswer, 'body'>): string {
  return String((JSON.parse(body) as { message?: unknown }).message)
}

/** Describes an error whose body is not ours; only passed-through requests may get one. */
function otherError(status: number, type: string | undefined): string {
  return `${type === 'text/html' ? 'html' : 'other'} ${status}`
}

/** Returns the code of a v1 error: exactly `code`, `message` and `details`, as JSON (facts §15). Undefined for anything else. */
export function errorIn(body: string, type: string | undefined): number | undefined {
  try {
    const error = JSON.parse(body) as Record<string, unknown>
    const members = Object.keys(error).sort().join()
    const isV1 = members === 'code,details,message' && typeof error.message === 'string' && Array.isArray(error.details)
    return isV1 && typeof error.code === 'number' && type === 'application/json' ? error.code : undefined
  } catch {
    return undefined
  }
}

function rowsIn(body: string, type: string | undefined): string {
  if (type === undefined && body === '') return ''
  try {
    const { items } = JSON.parse(body) as { items?: unknown[] }
    return items ? `, ${items.length} rows` : ''
  } catch {
    return body === '' ? ', empty' : ', not JSON'
  }
}
