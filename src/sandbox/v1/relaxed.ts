import type { Message } from '../messages/message.ts'
import type { Resource } from '../v2/resource.ts'
import type { Row } from '../world/model.ts'

/** A resource whose `members` are optional: v1 validates less than v2 (facts §24.13). Given values are checked as in v2. */
export function relaxed<R extends Row>(resource: Resource<R>, ...members: readonly string[]): Resource<R> {
  const fields: Message['fields'] = Object.fromEntries(
    Object.entries(resource.message.fields).map(([name, field]) => {
      const { required: _, ...optional } = field
      return [name, members.includes(name) ? optional : field]
    }),
  )
  return { ...resource, message: { ...resource.message, fields } }
}
