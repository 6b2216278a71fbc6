import type { Kinds, StoreRead } from '../store.ts'
import type { StoreChange } from '../store-change.ts'

/** A type of Redis. */
export type KeyType = 'hash' | 'set' | 'stream'

/** The keys that a script needs, behind the root, with their types. Claims are not among them: what else is at their keys is replaced. */
export type NeededTypes = ReadonlyMap<string, KeyType>

export function neededTypes(changes: readonly StoreChange[], reads: readonly StoreRead[]): NeededTypes {
  const needed = new Map<string, KeyType>()
  for (const { kind, name } of reads) {
    if (kind === 'replicas') needed.set('beats', 'hash')
    else needed.set(`${kind}:${name}`, kind === 'log' ? 'stream' : 'hash')
  }
  for (const change of changes) for (const [key, type] of ofChange(change)) needed.set(key, type)
  return needed
}

type Shelf = Exclude<keyof Kinds, 'replicas'>

/** Where each kind of change writes. */
const SHELVES: Readonly<Record<Exclude<StoreChange['kind'], 'beat'>, Shelf>> = {
  ...{ add: 'sums', most: 'sums', least: 'sums', claim: 'sums', join: 'sums', draw: 'sums' },
  ...{ write: 'texts', mark: 'texts', log: 'log', lease: 'lease', raise: 'document' },
}

function ofChange(change: StoreChange): readonly (readonly [key: string, type: KeyType])[] {
  if (change.kind === 'beat') return [['beats', 'hash']]
  const shelf = SHELVES[change.kind]
  const place = [`${shelf}:${change.name}`, shelf === 'log' ? 'stream' : 'hash'] as const
  return change.kind === 'join' ? [place, [`members:${change.name}\0${change.field}`, 'set']] : [place]
}
