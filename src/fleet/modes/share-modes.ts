import type { Modes, ModesState } from '../../migrate/modes/modes.ts'
import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { Fleet } from '../fleet.ts'
import { atMost, type FleetClocks } from '../fleet-clocks.ts'
import type { BeatText } from '../heartbeat.ts'
import { createModesCache, type KeptModes } from './modes-cache.ts'
import { createModesPart, type ModesPart, type ModesTold } from './modes-part.ts'
import { createPutModes, type PutModes } from './put-modes.ts'
import { type UnreadModes, unreadText } from './unread-modes.ts'

/** The modes of a replica as those of its fleet. */
export interface ShareModes extends PutModes {
  /** Starts the fleet and puts its modes in force. Without a store, the last known ones: `given` or of `cache`; without those, none are known. */
  start(): Promise<void>
  /** Proposes the modes of the changed configuration file to all replicas. Returns a sentence if this one could not follow them. */
  change(rules: ModeRules, by: Actor): string | undefined
  /** Whether any modes are known: of the store, or of the cache while the store has not answered since the start. */
  known(): 'store' | 'cache' | 'none'
  /** Why no modes are known, in a sentence; undefined if some are. */
  unknown(): string | undefined
  /** The modes of the store, if this version of Crosswalk cannot read them. */
  unread(): UnreadModes | undefined
  /** What a heartbeat says of the modes in force: version 0 if none are known. */
  said(): Pick<BeatText, 'version' | 'tag' | 'unread'>
  /** What another process of this machine can start with; undefined if no modes are known. */
  kept(): KeptModes | undefined
  /** True while no canary gets v2, because the store was silent for longer than the lease. */
  isHeld(): boolean
  close(): Promise<void>
}

interface ShareModesParts {
  readonly fleet: Fleet
  readonly modes: Pick<Modes, 'adopt' | 'check' | 'configure' | 'state' | 'hold' | 'refuse'>
  /** Open circuits by operation, with their reasons; and how to open one again. */
  readonly openCircuits: () => Readonly<Record<string, string>>
  readonly reopen: (operation: string, reason: string) => void
  /** Calls a listener when a circuit opens or closes. */
  readonly onTurn: (listener: () => void) => void
  readonly first: { readonly rules: ModeRules; readonly by: Actor }
  /** The path of the cache, if there is one. */
  readonly cache: string | undefined
  /** What the supervisor of this process knew, in place of a cache. */
  readonly given: KeptModes | undefined
  /** Milliseconds of silence after which canaries get no v2; 0 = never. */
  readonly leaseMs: number
  readonly clocks: FleetClocks
  readonly told: Omit<ModesTold, 'adopted'> & { held(isHeld: boolean): void; cached(version: number): void; unknown(why: string): void }
  readonly warn: (text: string) => void
}

/** Milliseconds between two looks at the lease. */
const LOOK_MS = 100

/** The longest wait for the answer that a store without modes has taken the first ones, in milliseconds. */
const FIRST_MS = 1000

const UNKNOWN = 'this replica does not know the modes: the store does not answer, and store.cache has none'

export function shareModes({ fleet, modes, clocks, told, ...parts }: ShareModesParts): ShareModes {
  const { openCircuits, leaseMs } = parts
  const now = (): KeptModes => ({ document: part.known(), open: openCircuits() })
  const cache = parts.cache === undefined ? undefined : createModesCache(parts.cache, now, parts.warn)
  const keep = () => {
    if (part.known().version > 0) cache?.keep()
  }
  const unknown = () => {
    if (part.known().version > 0) return undefined
    const unread = part.unread()
    return unread ? `this replica does not know the modes: ${unreadText(unread)}` : UNKNOWN
  }
  const refuse = () => {
    const why = unknown()
    if (why !== undefined) modes.refuse(why)
  }
  const unreadable: ModesTold['unreadable'] = (...unread) => {
    refuse()
    told.unreadable(...unread)
  }
  const partTold = { ...told, adopted: keep, unreadable }
  const part = createModesPart({ modes, first: parts.first, now: clocks.now, wake: fleet.now, told: partTold })
  parts.onTurn(keep)
  fleet.add(part)
  let isHeld = false
  const look = () => {
    const { heardAt = Number.NEGATIVE_INFINITY } = fleet.state()
    const isLate = clocks.ticks() - heardAt > leaseMs
    if (isLate === isHeld) return
    isHeld = isLate
    modes.hold(isHeld)
    told.held(isHeld)
  }
  let end = () => {}
  const hasAnswered = () => fleet.state().heardAt !== undefined
  return {
    ...createPutModes({ fleet, part, modes, clocks }),
    async start() {
      const kept = parts.given ?? (await cache?.read())
      if (kept) part.take(kept.document)
      for (const [operation, reason] of Object.entries(kept?.open ?? {})) parts.reopen(operation, reason)
      await fleet.start()
      // A store without modes takes those of the file with the second exchange.
      if (hasAnswered() && part.known().version === 0) await atMost(fleet.turn(), false, FIRST_MS, clocks)
      refuse()
      if (part.known().version > 0 && !hasAnswered()) told.cached(part.known().version)
      else if (part.known().version === 0 && !part.unread()) told.unknown(UNKNOWN)
      if (leaseMs > 0) end = clocks.repeat(look, LOOK_MS)
      if (leaseMs > 0) look()
    },
    change(rules, by) {
      const checked = modes.check(rules)
      if ('problem' in checked) return checked.problem
      modes.configure(checked)
      part.propose(checked, by)
      const { problem } = fleet.state()
      if (problem !== undefined) told.proposed({ problem: `${problem}; they are proposed as soon as it answers` })
      return undefined
    },
    known: () => (part.known().version === 0 ? 'none' : hasAnswered() ? 'store' : 'cache'),
    ...{ unknown, unread: part.unread },
    said: () => saidOf(modes.state(), part),
    kept: () => (part.known().version === 0 ? undefined : now()),
    isHeld: () => isHeld,
    async close() {
      end()
      await cache?.close()
    },
  }
}

function saidOf({ version, tag }: ModesState, { known, unread }: Pick<ModesPart, 'known' | 'unread'>): ReturnType<ShareModes['said']> {
  const newer = unread()?.version
  return { version: known().version === 0 ? 0 : version, tag, ...(newer !== undefined && { unread: newer }) }
}
