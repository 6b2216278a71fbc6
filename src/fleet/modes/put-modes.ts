import type { Modes } from '../../migrate/modes/modes.ts'
import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { Fleet } from '../fleet.ts'
import { atMost, type FleetClocks, pause } from '../fleet-clocks.ts'
import type { FleetReplica, UnreadReplica } from '../heartbeat.ts'
import { MODES, tagOf } from './modes-document.ts'
import type { ModesPart } from './modes-part.ts'

/** Changes the modes of all replicas, or of this one alone. */
export interface PutModes {
  /** Puts rules in force everywhere, if the entity tag in force is one that is expected. */
  put(rules: ModeRules, by: Actor, isExpected: (tag: string) => boolean): Promise<PutEnd>
  /** Puts rules in force on this replica while the store does not answer. They are proposed to all as soon as it does. */
  putHere(rules: ModeRules, by: Actor): Promise<PutEnd>
}

/** `down`: the store does not answer. `up`: it does, so this replica may not change alone. `overtaken`: other modes are in force. */
export type PutEnd = { readonly end: 'down' | 'up' | 'overtaken' } | ({ readonly end: 'put' } & Obedience)

/** The replicas that have the new modes in force, and the others. */
export interface Obedience {
  readonly obeyed: readonly string[]
  readonly missing: readonly { readonly id: string; readonly seenMs: number }[]
}

interface PutParts {
  readonly fleet: Pick<Fleet, 'store' | 'turn' | 'readReplicas' | 'replicas' | 'unread'>
  readonly part: Pick<ModesPart, 'known' | 'unread' | 'next' | 'take' | 'force'>
  readonly modes: Pick<Modes, 'state'>
  readonly clocks: FleetClocks
}

/** The longest that the store may take, in milliseconds. A person who changes modes must know soon whether they changed. */
const STORE_MS = 250

/** The longest that the other replicas may take, in milliseconds. */
const OBEY_MS = 1000

/** Milliseconds between two looks at the heartbeats. */
const LOOK_MS = 5

const DOWN = { end: 'down' } as const

export function createPutModes({ fleet, part, modes, clocks }: PutParts): PutModes {
  /** Modes that another version of Crosswalk wrote have a tag too, and may be replaced. */
  const tagInForce = () => {
    const unread = part.unread()
    return unread ? tagOf(unread) : modes.state().tag
  }
  const newest = () => part.unread() ?? part.known()
  const attempt = async (rules: ModeRules, by: Actor, isExpected: (tag: string) => boolean): Promise<PutEnd | number> => {
    for (const until = clocks.ticks() + STORE_MS; clocks.ticks() < until; ) {
      // Somebody may have been faster at another replica, and this one has not heard of it.
      if (!isExpected(tagInForce()) || newest().version === 0) {
        if (!(await fleet.turn())) return DOWN
        if (!isExpected(tagInForce())) return { end: 'overtaken' }
      }
      const { version } = newest()
      const { isReplaced, document } = await fleet.store.replace(MODES, version, part.next(rules, by))
      part.take(document)
      if (isReplaced) return document.version
      // A store that came back older gets the known document first.
      if (newest().version === version && !(await fleet.turn())) return DOWN
    }
    return DOWN
  }
  const obeyed = async (version: number): Promise<Obedience> => {
    for (const until = clocks.ticks() + OBEY_MS; ; await pause(LOOK_MS, clocks)) {
      const replicas = await atMost(fleet.readReplicas(), fleet.replicas(), STORE_MS, clocks).catch(() => fleet.replicas())
      const found = obedience(replicas, fleet.unread(), version)
      if (clocks.ticks() >= until || !replicas.some(({ id, isLive }) => isLive && found.missing.some((one) => one.id === id))) return found
    }
  }
  return {
    async put(rules, by, isExpected) {
      const end = await atMost(
        attempt(rules, by, isExpected).catch(() => DOWN),
        DOWN,
        STORE_MS,
        clocks,
      )
      return typeof end === 'number' ? { end: 'put', ...(await obeyed(end)) } : end
    },
    async putHere(rules, by) {
      if (await atMost(fleet.turn(), false, STORE_MS, clocks)) return { end: 'up' }
      const version = part.known().version + 1
      part.force({ version, text: part.next(rules, by) })
      return { end: 'put', ...obedience(fleet.replicas(), fleet.unread(), version) }
    },
  }
}

/** A replica whose heartbeat cannot be read may have obeyed; nobody knows. */
function obedience(replicas: readonly FleetReplica[], unread: readonly UnreadReplica[], version: number): Obedience {
  const has = (one: FleetReplica) => one.isSelf || one.version >= version
  return {
    obeyed: replicas.filter(has).map(({ id }) => id),
    missing: [...replicas.filter((one) => !has(one)), ...unread].map(({ id, seenMs }) => ({ id, seenMs: Math.round(seenMs) })),
  }
}
