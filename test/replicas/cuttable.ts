import { createFleet, type Fleet } from '../../src/fleet/fleet.ts'
import { type Store, StoreDown } from '../../src/fleet/store/store.ts'
import type { ManualClocks } from '../stage/manual-clocks.ts'

/** A store that a test can cut off from one replica: what the replica sends gets lost, or the answers to it. */
export interface Cuttable {
  readonly store: Store
  cut: 'no' | 'requests' | 'answers'
}

export function cuttable(inner: Store): Cuttable {
  const through = async <T>(send: () => Promise<T>): Promise<T> => {
    if (one.cut === 'requests') throw new StoreDown('the store does not answer')
    const found = await send()
    if (one.cut !== 'no') throw new StoreDown('the store does not answer')
    return found
  }
  const store: Store = {
    ...inner,
    exchange: (batch) => through(() => inner.exchange(batch)),
    read: (reads) => through(() => inner.read(reads)),
    replace: (name, version, text) => through(() => inner.replace(name, version, text)),
    onNews: (listener) => inner.onNews(() => one.cut === 'no' && listener()),
  }
  const one: Cuttable = { store, cut: 'no' }
  return one
}

/** The fleet of one replica, without a server. A part that fails ends the test. */
export function fleetOf(id: string, store: Store, clocks: ManualClocks): Fleet {
  const failed = (error: unknown) => {
    throw error
  }
  return createFleet({ store, id, name: id, clocks, modes: () => ({ version: 1, tag: '1' }), ended: () => {}, failed })
}
