import { bodyOf } from '../../migrate/compare/compare.ts'
import { unexplained } from '../../migrate/compare/judge.ts'
import type { ComparedRequest } from '../../migrate/modes/journal.ts'
import { type ComparedRead, compareRead, type SideAnswer } from '../../migrate/observe/compare-read.ts'
import { otherSide, type Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import type { ComparisonMeans } from '../comparison-means.ts'
import type { FunctionPair } from '../function-operation.ts'
import type { FirstDeed, Mismatch } from '../mismatch.ts'

/** A call whose caller has the answer. */
export interface JudgedCall {
  readonly pair: FunctionPair
  readonly subject: ComparedRequest
  readonly by: Side
  /** When it came, in milliseconds since 1970. */
  readonly since: number
  readonly first: SideAnswer
  readonly args: readonly unknown[]
}

type AskSide = (side: Side) => Promise<SideAnswer>

/** Calls the other side, and counts what the comparison shows. Both sides of a read are called again if they differ. */
export async function judgeCall(call: JudgedCall, ask: AskSide, means: ComparisonMeans, signal: Signal): Promise<void> {
  await means.restored
  const { pair, subject, by, since, first } = call
  const { operation, options } = pair
  const { journal } = means.migration
  const read = { operation, read: () => subject.request, by, since, first, learn: means.learning(operation.id) }
  const compared = options.isRead ? await compareRead(read, ask, journal.judging, signal) : await compareOnce(call, ask, means)
  journal.compared(subject, 'read', operation, compared)
  tell(call, compared, means)
}

/** A write is never repeated, so that whatever differs counts. */
async function compareOnce({ subject, by, first }: JudgedCall, ask: AskSide, { migration }: ComparisonMeans): Promise<ComparedRead> {
  const other = await ask(otherSide(by))
  const [v1, v2] = by === 'v1' ? [first, other] : [other, first]
  const asked = { operation: subject.operation, request: subject.request }
  return { asked, judgement: migration.journal.judging.judge(asked, v1.seen, v2.seen), v1, v2 }
}

const TOLD: ReadonlySet<string> = new Set<Mismatch['outcome']>(['mismatch', 'transient', 'error'])

function tell({ pair, args }: JudgedCall, { judgement, v1, v2 }: ComparedRead, { onMismatch }: ComparisonMeans): void {
  const { outcome, findings, reason } = judgement
  if (!TOLD.has(outcome)) return
  onMismatch({
    name: pair.operation.id,
    outcome: outcome as Mismatch['outcome'],
    args,
    legacy: deedOf(v1),
    next: deedOf(v2),
    differences: unexplained(findings).map(({ kind, at, where, v1, v2 }) => ({ kind, at, where, v1, v2 })),
    ...(reason !== undefined && { reason }),
  })
}

function deedOf({ seen }: SideAnswer): FirstDeed {
  return { did: seen.did ?? '', value: bodyOf(seen) }
}
