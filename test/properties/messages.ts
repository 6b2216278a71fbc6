import { mappings } from '../../mappings/index.ts'
import type { Message } from '../../src/tables/resource.ts'

export const operations = mappings.flatMap((mapping) => mapping.operations)

/** Every message that v1 reads or shows, once, by name. A new resource is included as soon as an operation has it. */
export const messages: readonly Message[] = [...new Set(operations.flatMap(({ request, answer }) => [request, answer]))].filter(
  (one): one is Message => one !== undefined && Object.keys(one.fields).length > 0,
)
