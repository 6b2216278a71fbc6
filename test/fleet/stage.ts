import { expect } from 'vitest'
import { createFleet, type Fleet } from '../../src/fleet/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { type Store, StoreDown } from '../../src/fleet/store/store.ts'
import { type ManualClocks, manualClocks } from '../stage/clocks.ts'

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

/** Replicas that share a store, whose clocks a test moves. */
export interface SharedStage {
  readonly clocks: ManualClocks
  /** The modes in force. */
  readonly modes: { version: number; readonly tag: string }
  /** While it is true, the store does not answer. */
  readonly breaks: { all: boolean }
  /** The store as another process has it. */
  store(): Store
  /** Lets the store come back empty. */
  lose(): void
  /** Adds a replica: `add` makes its parts. */
  join<T>(id: string, add: (fleet: Fleet) => T): Promise<T & { readonly id: string; readonly fleet: Fleet }>
}

export function sharedStage(): SharedStage {
  const clocks = manualClocks()
  const modes = { version: 1, tag: 'one' }
  const breaks = { all: false }
  let memory = createMemory(clocks.now)
  return {
    clocks,
    modes,
    breaks,
    store: () => memory.open(),
    lose() {
      memory = createMemory(clocks.now)
    },
    async join(id, add) {
      let own = { memory, store: memory.open() }
      const orBroken = () => {
        if (breaks.all) throw new StoreDown('the store does not answer')
        if (own.memory !== memory) own = { memory, store: memory.open() }
        return own.store
      }
      const store = {
        ...own.store,
        exchange: async (batch: Parameters<typeof own.store.exchange>[0]) => orBroken().exchange(batch),
        read: async (reads: Parameters<typeof own.store.read>[0]) => orBroken().read(reads),
      }
      const failed = (error: unknown) => expect(error).toBeUndefined()
      const fleet = createFleet({ store, id, name: id, clocks, modes: () => modes, ended: () => {}, failed })
      const added = add(fleet)
      await fleet.start()
      return { ...added, id, fleet }
    },
  }
}
