import { expect } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import { createFleet, type Fleet } from '../../src/fleet/fleet.ts'
import { createMemory, createShelves, type Shelves } from '../../src/fleet/store/memory.ts'
import { decodeShelves, encodeShelves } from '../../src/fleet/store/saved.ts'
import { type Store, StoreDown } from '../../src/fleet/store/store.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/start.ts'
import { type ManualClocks, manualClocks } from '../stage/clocks.ts'
import { startStage, type TestProxy } from '../stage/stage.ts'
import { breakableStore } from '../stage/stores.ts'

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
  /** Returns a function that lets the store come back as it is now. */
  backUp(): () => void
  /** Adds a replica: `add` makes its parts. */
  join<T>(id: string, add: (fleet: Fleet) => T): Promise<T & { readonly id: string; readonly fleet: Fleet }>
}

/** A store that can come back empty, as a Redis without a file does, or older, as one from a backup does. */
export function losable(now: () => number) {
  let shelves = createShelves(now)
  let memory = createMemory(now, shelves)
  const become = (other: Shelves | undefined) => {
    shelves = other ?? createShelves(now)
    memory = createMemory(now, shelves)
  }
  return {
    /** Opens it for one more replica. It goes on with what the store is by then. */
    open(): Store {
      let own = { memory, store: memory.open() }
      const current = () => {
        if (own.memory !== memory) own = { memory, store: memory.open() }
        return own.store
      }
      return {
        exchange: async (batch) => current().exchange(batch),
        read: async (reads) => current().read(reads),
        replace: async (...asked) => current().replace(...asked),
        onNews: (listener) => own.store.onNews(listener),
        close: async () => own.store.close(),
      }
    },
    /** Opens what the store is now. */
    now: () => memory.open(),
    lose: () => become(undefined),
    /** Makes a backup. Returns a function that lets the store come back as it is now. */
    backUp() {
      const text = encodeShelves(shelves)
      return () => become(decodeShelves(text, now))
    },
  }
}

export function sharedStage(): SharedStage {
  const clocks = manualClocks()
  const modes = { version: 1, tag: 'one' }
  const breaks = { all: false }
  const { open, now, lose, backUp } = losable(clocks.now)
  return {
    ...{ clocks, modes, breaks, store: now, lose, backUp },
    async join(id, add) {
      const own = open()
      const orBroken = () => {
        if (breaks.all) throw new StoreDown('the store does not answer')
        return own
      }
      const store: Store = {
        ...own,
        exchange: async (batch) => orBroken().exchange(batch),
        read: async (reads) => orBroken().read(reads),
      }
      const failed = (error: unknown) => expect(error).toBeUndefined()
      const fleet = createFleet({ store, id, name: id, clocks, modes: () => modes, ended: () => {}, failed })
      const added = add(fleet)
      await fleet.start()
      return { ...added, id, fleet }
    },
  }
}

/** Two servers in diff-v1 before one sandbox, whose replicas share a store. A test can break the store of the first. */
export async function startPair(values: Partial<Config> = {}, given: Sandbox | SandboxOptions = {}) {
  const memory = createMemory(Date.now)
  const breakable = breakableStore(memory.open())
  const stage = await startStage({ sandbox: given, mode: 'diff-v1', proxy: values, stores: [breakable.store, memory.open()] })
  const { sandbox, close } = stage
  const [a, b] = stage.servers
  return {
    ...{ sandbox, close, breakable, a, b, open: memory.open },
    /** Starts one more replica. */
    another: (more: Partial<Config>) => startStage({ sandbox, mode: 'diff-v1', proxy: { ...values, ...more }, stores: [memory.open()] }),
    /** Sends a v1 request through one of them, and waits until it is over. */
    async get(through: TestProxy, path: string, role: keyof typeof sandbox.tokens = 'owner') {
      await stage.request('GET', path, { through, token: sandbox.tokens[role] })
      await stage.over()
    },
  }
}

export type Pair = Awaited<ReturnType<typeof startPair>>
