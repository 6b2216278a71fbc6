import { type Field, type Fields, objects } from '../tables/fields.ts'
import type { Operation } from '../tables/operation.ts'

/** What `check` looks at of an operation. A draft has no more of it. */
export type ServedOperation = Pick<
  Operation,
  'id' | 'method' | 'template' | 'kind' | 'calls' | 'params' | 'ownParams' | 'because' | 'bodyIs' | 'mask' | 'rows' | 'rowsIn'
> & {
  readonly request?: ServedMessage | undefined
  readonly answer?: ServedMessage | undefined
  readonly envelope?: ServedMessage | undefined
}

/** The rows of a message, and its name in sentences. */
export interface ServedMessage {
  readonly name: string
  readonly fields: Fields
}

/** `GET /v1/projects/{projectId}` → `GET /v1/projects/{}`: the names of variables are each version's own. */
export function plainRoute(route: string): string {
  return route.replace(/\{[^{}]*\}/g, '{}')
}

export function routeOf({ method, template }: Pick<ServedOperation, 'method' | 'template'>): string {
  return `${method} ${template}`
}

/** True if all rows are about one call, so that a path of a row begins at the top of its answer. */
export function isOneCall({ kind, calls }: ServedOperation): boolean {
  return kind === 'direct' && calls.length === 1
}

/** Members that the reading of whole lists uses itself, and parameters with which it asks for them. */
export const WALKED = {
  members: ['nextPageToken', 'totalCount', 'skipped'],
  parameters: ['pageSize', 'pageToken', 'skip', 'orderBy'],
} as const

/** The whole answer: of a list, the rows below `items` and the members beside them. */
export function answerOf({ rows, rowsIn = '', answer, envelope }: ServedOperation): ServedMessage | undefined {
  if (!rows || !answer) return answer
  const items: Field = objects(rowsIn, answer.fields)
  return { name: `list of ${answer.name}`, fields: { items, ...envelope?.fields } }
}
