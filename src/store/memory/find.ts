import { KEPT_MS, type Kinds, type StoreFound, type StoreRead } from '../store.ts'
import type { Shelves, Stamped } from './shelves.ts'

/** Finds what a read asks for, if it is newer than what is known. */
export function find({ kind, name, known }: StoreRead, shelves: Shelves, now: number): StoreFound {
  const { stamp, value } = FOUND[kind](name, shelves, now, known)
  // Not "less than": the stamp of a name that was forgotten is 0.
  return stamp === known ? undefined : { stamp, value }
}

/** Keeps what a live replica reads, unless it was meant for a short time. */
export function renew({ kind, name }: StoreRead, shelves: Shelves, now: number): void {
  if (kind !== 'sums' && kind !== 'texts' && kind !== 'log') return
  const shelf = shelves[kind === 'log' ? 'logs' : kind]
  const left = shelf.left(name)
  if (left > KEPT_MS / 2 && left < KEPT_MS) shelf.keep(name, now + KEPT_MS)
}

type Find<K extends keyof Kinds> = (name: string, shelves: Shelves, now: number, known?: number) => Stamped<Kinds[K]>

const FOUND: { readonly [K in keyof Kinds]: Find<K> } = {
  sums: (name, { sums }) => byField(sums.get(name)),
  texts: (name, { texts }) => byField(texts.get(name)),
  log(name, { logs }, _, known = 0) {
    const { stamp, value } = logs.get(name) ?? { stamp: 0, value: [] }
    return { stamp, value: known > stamp ? value : value.filter(({ nth }) => nth > known) }
  },
  document: (name, { documents }) => documents.get(name) ?? { stamp: 0, value: { version: 0, text: '' } },
  lease: (name, { leases }) => leases.get(name) ?? { stamp: 0, value: undefined },
  replicas: (_, { beats, nextStamp }, now) => ({
    stamp: nextStamp(),
    value: beats.entries().map(([replica, { text, at }]) => ({ replica, text, agoMs: now - at })),
  }),
}

function byField<T>(found: Stamped<ReadonlyMap<string, T>> | undefined): Stamped<Readonly<Record<string, T>>> {
  return { stamp: found?.stamp ?? 0, value: Object.fromEntries(found?.value ?? []) }
}
