import { snakeCase } from '../http/case.ts'
import { type Ask, ok, type Route } from '../http/route.ts'
import { CODES, gatewayError, isStatusError } from '../status.ts'
import type { World } from '../world/world.ts'
import type { V1Message } from './message.ts'

/** One v1 endpoint. Answers HTTP 200 with the JSON of `answer`, creates and deletes included (facts §12.5). */
export type Operation = {
  readonly method: Route['method']
  readonly template: string
  readonly auth?: Route['auth']
  /** The message whose v1 names errors use for fields. */
  readonly message?: V1Message
  readonly answer: (ask: Ask, world: World) => unknown
}

/** Translates a field from the names of the store to those of a v1 message: `static_keys.expiration_time` → `static.expiration`. */
export function v1FieldName(path: string, message: V1Message): string {
  const [head = '', ...rest] = path.split('.')
  const [name = '', index = ''] = head.split(/(?=\[)/, 2)
  const member = message.members.find(({ from }) => snakeCase(from) === name)
  if (!member) return path
  const inner = member.type.kind === 'message' ? v1FieldName(rest.join('.'), member.type.message) : rest.join('.')
  return `${member.name}${index}${rest.length > 0 ? `.${inner}` : ''}`
}

/**
 * Rethrows a failure of the service in v1's words: the same code and text, fields under their v1 names, no details (facts §15). Other
 * errors are faults of the sandbox and pass unchanged.
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

/** v1's name for the parent of a create: the path variable (facts §12.1). */
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
