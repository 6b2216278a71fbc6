import { invalidArgument } from 'crosswalk/tables'

/** What v3 calls the members that a filter of v1 may name. */
const NAMES: Readonly<Record<string, string>> = {
  id: 'projectId',
  name: 'displayName',
  lifecycleState: 'state',
  'owner.directoryCustomerId': 'directoryCustomerId',
}

const COLLECTIONS: Readonly<Record<string, string>> = { organization: 'organizations', folder: 'folders' }

/**
 * Writes a filter of v1 as a query of v3: `lifecycleState:ACTIVE parent.type:folder parent.id:2` → `state:ACTIVE parent:folders/2`.
 * A type without an id is refused: v3 cannot ask for it.
 */
export function queryOf(filter: string): string {
  const terms = filter.split(/\s+/).filter(Boolean)
  const values = new Map(terms.map((term) => [before(term), term.slice(before(term).length + 1)]))
  const [type, id] = [values.get('parent.type'), values.get('parent.id')]
  if ((type === undefined) !== (id === undefined)) {
    throw invalidArgument({ field: 'filter', description: 'must name parent.type and parent.id together' })
  }
  const parent = type === undefined ? [] : [`parent:${COLLECTIONS[type] ?? type}/${id}`]
  const others = terms.filter((term) => !before(term).startsWith('parent.'))
  return [...others.map((term) => (NAMES[before(term)] ?? before(term)) + term.slice(before(term).length)), ...parent].join(' ')
}

/** The name in a term, before `:` or `=`. */
function before(term: string): string {
  return term.split(/[:=]/, 1)[0] ?? ''
}
