import type { Actor } from '../../diff/records/actor.ts'
import type { Entry, Note } from '../../diff/records/record.ts'
import type { RolloutEntry } from '../../diff/records/rollout-entry.ts'
import type { Journal } from '../journal.ts'
import type { SaveOrder } from '../save-order.ts'
import type { Runs } from './followed-runs.ts'
import type { RolloutRun } from './rollout-run.ts'
import { readSavedRun, type SavedRun } from './saved-run.ts'

/** Lets rollouts go on where earlier records ended. */
export interface EarlierRuns {
  /** Takes an entry of earlier records, in the order of their times, until `end` is called. */
  entry(entry: Entry): void
  /** Begins what the records do not know, and ends what the rules have no more. Circuits that had turned a rollout back are open again. */
  end(): void
}

interface EarlierSources {
  readonly runs: () => Runs
  readonly journal: Pick<Journal, 'circuit' | 'note' | 'recorder'>
  readonly order: SaveOrder
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The fleet knows where they stand, and which circuits are open. What the records say holds only if it does not. */
  readonly isShared: boolean
}

/** What the records say last of one rollout. */
interface Known extends Pick<RolloutEntry, 'digest'> {
  readonly nth: number
  /** Absent once the modes had it no more. */
  readonly saved: SavedRun | undefined
}

/** The last turn of a circuit, by its note. */
interface CircuitTurn {
  readonly nth: number
  /** Why it opened; undefined if it closed. */
  readonly opened: string | undefined
}

export function createEarlierRuns({ runs, journal, order, now, isShared }: EarlierSources): EarlierRuns {
  const known = new Map<string, Known>()
  const turns = new Map<string, CircuitTurn>()
  /** The number of the last change of modes, which closes circuits. */
  let changed = 0
  let isOver = false
  /** Why circuits opened of which no record of the rollout tells: the process may have died before it wrote one. */
  const openedOf = (run: RolloutRun, told: number) =>
    [...turns].flatMap(([operation, { nth, opened }]): readonly (readonly [string, string])[] =>
      opened !== undefined && nth >= told && nth >= changed && run.reaches(operation) ? [[operation, opened]] : [],
    )
  const noted = ({ what, operation = '', text, nth: numbered }: Note) => {
    const nth = numbered ?? order.last()
    order.saw(nth)
    if (what === 'modes') changed = Math.max(changed, nth)
    if (what === 'modes' && numbered === undefined) turns.clear()
    if (what !== 'circuit' && what !== 'circuit-closed') return
    if (nth >= (turns.get(operation)?.nth ?? 0)) turns.set(operation, { nth, opened: what === 'circuit' ? text : undefined })
  }
  const take = ({ name, digest, saved: written, nth = 0 }: RolloutEntry) => {
    order.saw(nth)
    if (nth < (known.get(name)?.nth ?? 0)) return
    const saved = readSavedRun(written)
    known.set(name, { digest, nth, saved })
    const run = runs().get(name)
    run?.restore(run.plan.digest === digest ? saved : undefined)
  }
  const begin = (run: RolloutRun, text: string) => {
    if (run.shared) run.shared.opening = text
    else run.begin(text, BY)
  }
  const goOn = (name: string, run: RolloutRun) => {
    const { digest, nth = 0, saved } = known.get(name) ?? {}
    if (!saved) return begin(run, 'It begins at its first step: no record knows it.')
    if (digest !== run.plan.digest) return begin(run, 'It begins at its first step: its steps, operations or clients are others now.')
    if (saved.seen) run.settle(saved.seen)
    if (isShared) return begin(run, GOES_ON)
    const state = run.state()
    const back = state.phase === 'turned-back' ? Object.entries(state.opened) : []
    const open = [...back.filter(([operation]) => run.reaches(operation)), ...openedOf(run, nth)]
    for (const [operation, reason] of open) journal.circuit.reopen(operation, reason)
    begin(run, GOES_ON)
  }
  const endLost = (name: string, { digest, saved }: Known) => {
    if (!saved || isShared) return
    journal.note({ what: 'rollout', rollout: name, text: `rollout ${name}: ${LOST}`, by: BY, from: saved.state.phase, to: 'ended' })
    journal.recorder.record({ kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: order.next() })
  }
  return {
    entry(entry) {
      if (isOver) return
      if (entry.kind === 'rollout') take(entry)
      if (entry.kind === 'note') noted(entry)
      if (entry.kind !== 'comparison' || entry.mode !== 'diff-v2') return
      const agoMs = now() - Date.parse(entry.at)
      for (const run of runs().values()) {
        if (run.reaches(entry.operation)) run.remember(entry, agoMs)
      }
    },
    end() {
      isOver = true
      for (const [name, run] of runs()) goOn(name, run)
      for (const [name, one] of known) if (!runs().has(name)) endLost(name, one)
    },
  }
}

const BY: Actor = { source: 'start' }

const GOES_ON = 'It goes on where the records ended.'

const LOST = 'It ends: the modes at this start have it no more. Modes that were put by a request end with the process.'
