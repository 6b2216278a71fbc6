import { converted, object, text } from 'crosswalk/tables'

/** v1's name of a resource: `{ type: 'folder', id: '2' }`. */
interface ResourceId {
  readonly type?: string
  readonly id?: string
}

/** Types that can hold a project, with v3's collections. */
const COLLECTIONS: Readonly<Record<string, string>> = { organization: 'organizations', folder: 'folders' }

/** v3's name → v1's: `folders/2` → `{ type: 'folder', id: '2' }`. */
export function idOf(name: unknown): ResourceId {
  const [collection = '', id = ''] = String(name).split('/')
  return { type: collection.replace(/s$/, ''), id }
}

/** v1's name → v3's; undefined if no project can be there. */
export function nameOf({ type = '', id }: ResourceId): string | undefined {
  const collection = COLLECTIONS[type]
  return collection !== undefined && id ? `${collection}/${id}` : undefined
}

/** The last part of v3's name: `projects/415` → `415`. */
export function lastPart(name: unknown): string {
  return String(name).split('/').at(-1) ?? ''
}

/** The members of v1's name of a resource. */
export const resourceId = { type: text('type'), id: text('id') }

/** A parent: an object in v1, a text in v3. */
export const parent = converted(object('parent', resourceId), {
  show: idOf,
  read: (id) => nameOf(id as ResourceId),
  must: 'must name an organization or a folder',
})
