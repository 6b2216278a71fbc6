import type { Sample } from '../../diff/evidence/bound.ts'
import type { Journal } from '../journal.ts'
import type { OperationView, RolloutView } from './machine/rollout-view.ts'
import type { StepEvidence } from './step-evidence.ts'

/** What is known of v2's answers. */
export interface KnownFigures {
  readonly evidence: { readonly of: (operation: string) => Sample | undefined }
}

/** Where the figures about v2 come from. */
export interface FigureSources {
  readonly journal: Pick<Journal, 'circuit' | 'recorder'> & KnownFigures
  /** False for a write that no read can show. */
  readonly canBeJudged: (operation: string) => boolean
}

/** What a rollout has seen. */
export interface Seen {
  /** Operations of its rule that v2 has, as far as no earlier rule takes them. */
  readonly reach: ReadonlySet<string>
  readonly evidence: Pick<StepEvidence, 'counts' | 'ratio'>
  /** What was known of each operation when the run began. */
  readonly before: Readonly<Record<string, Sample>>
}

/** Puts together all that decisions look at. */
export function viewOf(
  seen: Seen,
  since: Pick<RolloutView, 'requests' | 'unjudged'>,
  { journal, canBeJudged }: FigureSources,
): RolloutView {
  const { reach, evidence, before } = seen
  const used = Object.entries(evidence.counts()).filter(([operation, { requests }]) => requests > 0 && reach.has(operation))
  const operations = used.map(([operation, step]): OperationView => {
    const run = sinceThen(journal.evidence.of(operation), before[operation])
    return { operation, canBeJudged: canBeJudged(operation), step, run, failures: journal.circuit.failures(operation) }
  })
  const open = openOf(reach, journal)
  return {
    ...since,
    open,
    stuck: Object.keys(open).filter((operation) => !journal.circuit.canClose(operation)),
    operations,
    unused: reach.size - used.length,
    ratio: evidence.ratio.state(),
    unwritten: journal.recorder.problem(),
  }
}

/** Returns why each open circuit of these operations opened. */
export function openOf(reach: ReadonlySet<string>, { circuit }: Pick<Journal, 'circuit'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const why = circuit.whyOpen(operation)
      return why === undefined ? [] : [[operation, why]]
    }),
  )
}

/** Returns what is known of each operation now. */
export function knownOf(reach: ReadonlySet<string>, { evidence }: KnownFigures): Readonly<Record<string, Sample>> {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const known = evidence.of(operation)
      return known ? [[operation, { n: known.n, bad: known.bad }]] : []
    }),
  )
}

/** Returns what became known since then. If records are gone, what is left counts whole: nothing bad may hide. */
function sinceThen({ n, bad }: Sample = NOTHING, then: Sample = NOTHING): Sample {
  return n < then.n || bad < then.bad ? { n, bad } : { n: n - then.n, bad: bad - then.bad }
}

/** Returns what became known of each operation since then. */
export function seenSince(before: Seen['before'], { evidence }: KnownFigures): Readonly<Record<string, Sample>> {
  return Object.fromEntries(Object.entries(before).map(([operation, then]) => [operation, sinceThen(evidence.of(operation), then)]))
}

/**
 * Returns what was known then, as the records that are left would have it: what was seen since then must not shrink, nor what was before
 * dilute it, because old record files were removed.
 */
export function keptSince(before: Seen['before'], seen: Seen['before'], { evidence }: KnownFigures): Seen['before'] {
  const kept = Object.entries(before).map(([operation, then]) => {
    const [known, since] = [evidence.of(operation) ?? NOTHING, seen[operation] ?? NOTHING]
    const isWhole = known.n - then.n >= since.n && known.bad - then.bad >= since.bad
    return [operation, isWhole ? then : { n: known.n - since.n, bad: known.bad - since.bad }] as const
  })
  return Object.fromEntries(kept)
}

const NOTHING: Sample = { n: 0, bad: 0 }
