import { z } from 'zod'
import type { Sample } from '../../diff/evidence/bound.ts'
import { ROLLOUT_PHASES, type RolloutState, SIGNAL_NAMES } from './rollout-state.ts'
import type { RecordedCounts } from './step-evidence.ts'

/** What a restart needs of a rollout. */
export interface SavedRun {
  readonly state: RolloutState
  readonly counts: RecordedCounts
  /** What was known of each operation when the run began. */
  readonly before: Readonly<Record<string, Sample>>
  /** What became known since then of these operations. Records of older versions lack it. */
  readonly seen?: Readonly<Record<string, Sample>> | undefined
}

const count = z.number().min(0)
const sample = z.object({ n: count, bad: count })

const state = z.object({
  phase: z.enum(ROLLOUT_PHASES),
  at: count,
  reason: z.string(),
  since: z.number(),
  signal: z.enum(SIGNAL_NAMES).optional(),
  retried: count,
  rounds: count,
  heldMs: count,
  quietMs: count,
  backMs: count,
  opened: z.record(z.string(), z.string()),
  stepsBegun: count,
  runsBegun: count,
})

const savedRun = z.object({
  state,
  counts: z.record(z.string(), z.object({ requests: count, observations: sample, comparisons: sample })),
  // Below 0 once record files are gone: see `keptSince`.
  before: z.record(z.string(), z.object({ n: z.number(), bad: z.number() })),
  seen: z.record(z.string(), sample).optional(),
})

/** Reads what was saved. Undefined if it has another form: another version of Crosswalk wrote it. */
export function readSavedRun(value: unknown): SavedRun | undefined {
  return savedRun.safeParse(value).data
}
