import { snakeCase } from '../http/case.ts'
import { type Ask, ok, type Route } from '../http/route.ts'
import { CODES, gatewayError, isStatusError } from '../status.ts'
import type { World } from '../world/world.ts'
import type { Message } from './message.ts'

/** One v1 endpoint: answers HTTP 200 with the JSON `answer` gives, creates and deletes included (facts §12.5). */
export type Operation = {
  readonly method: Route['method']
  readonly template: string
  readonly auth?: Route['auth']
  /** The message whose v1 names an error uses for its fields. */
  readonly message?: Message
  readonly answer: (ask: Ask, world: World) => unknown
}

/** `static_keys.expiration_time`, as the store names a field, in the names of a v1 message: `static.expiration`. */
export function v1FieldName(path: string, message: Message): string {
  const [head = '', ...rest] = path.split('.')
  const [name = '', index = ''] = head.split(/(?=\[)/, 2)
  const member = message.members.find(({ from }) => snakeCase(from) === name)
  if (!member) return path
  const inner = member.type.kind === 'message' ? v1FieldName(rest.join('.'), member.type.message) : rest.join('.')
  return `${member.name}${index}${rest.length > 0 ? `.${inner}` : ''}`
}

/**
 * Throws a failure of the service again as v1 words it: the same code and text, fields under their v1 names, no details
 * (facts §15). Anything else is a fault of the sandbox and passes untouched.
 */
function refuseInV1(error: unknown, { message, template }: Operation): never {
  if (!isStatusError(error)) throw error
  const { code, details, message: text } = error.status
  const violations = details.flatMap((detail) => (detail.kind === 'badRequest' ? detail.fieldViolations : []))
  const nameOf = (field: string) => {
    const name = message ? v1FieldName(field, message) : field
    return name === 'parent' ? (pathVariable(template) ?? name) : name
  }
  const worded = violations.map(({ field, description }) => `${nameOf(field)}: ${description}`)
  return gatewayError(code, worded.length > 0 ? CODES[code].prefix + worded.join('; ') : text)
}

/** What v1 calls the parent of a create: the path names it (facts §12.1). */
const pathVariable = (template: string): string | undefined => /\{([^=}]+)/.exec(template)?.[1]

/** The route of an operation. */
export const routeOf = (operation: Operation): Route => ({
  method: operation.method,
  template: operation.template,
  auth: operation.auth ?? 'required',
  handle: (ask, world) => {
    try {
      return ok(operation.answer(ask, world))
    } catch (error) {
      return refuseInV1(error, operation)
    }
  },
})
