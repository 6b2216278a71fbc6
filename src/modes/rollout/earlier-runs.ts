import type { Circuit } from '../../diff/evidence/circuit.ts'
import type { Entry, Note, RolloutEntry } from '../../diff/records/record.ts'
import { covers } from '../../tables/operations/operation-pattern.ts'
import type { Runs } from './followed-runs.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { readSavedRun } from './saved-run.ts'

/** Lets rollouts go on where earlier records ended. */
export interface EarlierRuns {
  /** Takes an entry of earlier records, in the order of their times, until `end` is called. */
  entry(entry: Entry): void
  /** Begins what the records do not know. Circuits that had turned a rollout back are open again. */
  end(): void
}

interface EarlierSources {
  readonly runs: () => Runs
  readonly circuit: Pick<Circuit, 'reopen'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export function createEarlierRuns({ runs, circuit, now }: EarlierSources): EarlierRuns {
  const restored = new Set<string>()
  /** Why circuits opened of which no record of a rollout tells: the process may have died before it wrote one. */
  const opened = new Map<string, string>()
  let isOver = false
  const openedOf = ({ operations }: RolloutPlan) =>
    [...opened].filter(([operation]) => operations.some((pattern) => covers(pattern, operation)))
  const noted = ({ what, operation = '', text }: Note) => {
    if (what === 'circuit') opened.set(operation, text)
    else if (what === 'circuit-closed') opened.delete(operation)
    else if (what === 'modes') opened.clear()
  }
  const take = ({ name, digest, saved }: RolloutEntry) => {
    const run = runs().get(name)
    if (!run) return
    const known = run.plan.digest === digest ? readSavedRun(saved) : undefined
    run.restore(known)
    for (const [operation] of openedOf(run.plan)) opened.delete(operation)
    if (known) restored.add(name)
    else restored.delete(name)
  }
  return {
    entry(entry) {
      if (isOver) return
      if (entry.kind === 'rollout') take(entry)
      if (entry.kind === 'note') noted(entry)
      if (entry.kind !== 'comparison' || entry.mode !== 'diff-v2') return
      const agoMs = now() - Date.parse(entry.at)
      for (const run of runs().values()) {
        if (run.plan.operations.some((pattern) => covers(pattern, entry.operation))) run.remember(entry, agoMs)
      }
    },
    end() {
      isOver = true
      for (const [name, run] of runs()) {
        const isKnown = restored.has(name)
        const open = isKnown ? [...Object.entries(run.state().opened), ...openedOf(run.plan)] : []
        for (const [operation, reason] of open) circuit.reopen(operation, reason)
        run.begin(isKnown ? 'It goes on where the records ended.' : 'It begins at its first step: no record knows it.', { source: 'start' })
      }
    },
  }
}
