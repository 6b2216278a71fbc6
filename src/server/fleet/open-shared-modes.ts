import type { Fleet } from '../../fleet/fleet.ts'
import { conflictNote, type KeptModes, type ShareModes, shareModes, unreadText } from '../../fleet/modes.ts'
import type { FleetSources } from './fleet-sources.ts'

/** Makes the modes of a server those of its fleet, and tells in the log what happens to them. `given` is what a supervisor knew. */
export function openSharedModes(
  fleet: Fleet,
  { config, migration, log, clocks, file }: FleetSources,
  given: KeptModes | undefined,
): ShareModes {
  const { modes, journal, note, onNote } = migration
  const first = { rules: config.modes, by: { source: 'start', ...(file !== undefined && { path: file }) } } as const
  return shareModes({
    ...{ fleet, modes, clocks, first, given },
    cache: config['store.cache'],
    leaseMs: config['store.leaseMs'],
    openCircuits: () => Object.fromEntries(Array.from(journal.circuit.openings(), ([operation, { reason }]) => [operation, reason])),
    reopen: journal.circuit.reopen,
    onTurn: (listener) => onNote(({ what }) => (what === 'circuit' || what === 'circuit-closed') && listener()),
    told: {
      unreadable: (unread, isKnown) => log.warn({ version: unread.version }, `${unreadText(unread)}: ${isKnown ? KNOWN_STAY : NONE_KNOWN}`),
      differed: (conflict) => note(conflictNote(conflict, config['records.subjects'])),
      proposed(end) {
        if (end === 'again') log.info(AGAIN)
        else if ('version' in end) log.info({ version: end.version }, `the store took the modes of the file, as version ${end.version}`)
        else log.warn(`the store has not taken the modes of the file: ${end.problem}`)
      },
      held: (isHeld) => log.warn(isHeld ? HELD : 'the store answers: canaries get their share of v2 again'),
      cached: (version) => log.warn({ version }, given ? GIVEN : CACHED),
      unknown: (why) => log.warn(why),
    },
    warn: (text) => log.warn(text),
  })
}

const AGAIN = 'the modes of the file are those that were proposed last: they are not proposed again'

const KNOWN_STAY = 'the known ones stay in force'

const NONE_KNOWN = 'none are known here, so this replica is not ready'

const HELD = 'the store was silent for longer than store.leaseMs: no canary gets v2'

const CACHED = 'the store does not answer: the last known modes are in force, those of store.cache'

const GIVEN = 'the store does not answer: the last known modes are in force, those of the supervisor'
