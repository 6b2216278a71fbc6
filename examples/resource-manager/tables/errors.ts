import { CODES, type CodeName, type ErrorForm, isObject } from 'crosswalk/tables'

/** Google wraps its errors, with the HTTP status as the code: `{ error: { code: 404, message, status: 'NOT_FOUND', details } }`. */
export const errors: ErrorForm = {
  read({ text }) {
    const error = errorIn(text)
    const { status, message, details } = error ?? {}
    if (!Object.hasOwn(CODES, String(status))) return undefined
    const known = Array.isArray(details) ? details.filter((detail) => typeof detail?.['@type'] === 'string') : []
    return { code: status as CodeName, message: String(message ?? ''), details: known, foreign: false }
  },
  write({ code, http, message, details }) {
    const error = { code: http, message, status: code, ...(details.length > 0 && { details }) }
    return { status: http, body: { error } }
  },
}

function errorIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && isObject(body['error']) ? body['error'] : undefined
  } catch {
    return undefined
  }
}
