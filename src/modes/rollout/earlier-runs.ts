import type { Circuit } from '../../diff/evidence/circuit.ts'
import type { Entry, RolloutEntry } from '../../diff/records/record.ts'
import { covers } from '../../tables/operations/operation-pattern.ts'
import type { Runs } from './followed-runs.ts'
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
  let isOver = false
  const take = ({ name, digest, saved }: RolloutEntry) => {
    const run = runs().get(name)
    if (!run) return
    const known = run.plan.digest === digest ? readSavedRun(saved) : undefined
    run.restore(known)
    if (known) restored.add(name)
    else restored.delete(name)
  }
  return {
    entry(entry) {
      if (isOver) return
      if (entry.kind === 'rollout') take(entry)
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
        for (const [operation, reason] of Object.entries(isKnown ? run.state().opened : {})) circuit.reopen(operation, reason)
        run.begin(isKnown ? 'It goes on where the records ended.' : 'It begins at its first step: no record knows it.', { source: 'start' })
      }
    },
  }
}
