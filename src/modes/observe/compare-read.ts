import type { Compare } from '../../diff/compare/compare.ts'
import type { Judge, Judgement } from '../../diff/judge/judge.ts'
import type { Noise } from '../../diff/judge/noise.ts'
import type { Settle } from '../../diff/judge/race.ts'
import type { Exchanged, Observed } from '../../diff/records/exhibit.ts'
import type { Signal } from '../../upstream/signal.ts'
import { otherSide, type Side } from '../choose/mode.ts'
import type { Ask, Asking, SideAnswer } from './ask.ts'

/** The parts that judge answers. They are pure, except that noise learns. */
export interface Judging {
  readonly compare: Compare
  readonly judge: Judge
  readonly settle: Settle
  readonly noise: Noise
}

/** A read whose first answer is known. Its `read` does not throw: a request that the tables cannot read is not compared. */
export interface AnsweredRead extends Asking {
  /** The side that gave the first answer. */
  readonly by: Side
  readonly first: SideAnswer
  /** The other side's answer, if it is known already: v2 failed, and v1 answered instead. */
  readonly other?: SideAnswer | undefined
  /** The other side's own page token, for a page that is not the first. */
  readonly otherToken?: string | undefined
  /** Whether the caller wrote since the request arrived. */
  readonly wrote: () => boolean
  /** Ask v1 once more, to learn which members change by themselves. */
  readonly learn: boolean
}

/** The answers of both sides, and the result of comparing them. */
export interface ComparedRead {
  readonly judgement: Judgement
  readonly v1: SideAnswer
  readonly v2: SideAnswer
  /** What is needed to reproduce a mismatch that repeats. */
  readonly observed?: Observed
}

/** Asks the other side and compares. A difference is only confirmed by asking again in the order v1–v2–v1 (design §7). */
export async function compareRead(read: AnsweredRead, ask: Ask, judging: Judging, signal: Signal): Promise<ComparedRead> {
  const calls: Exchanged[] = []
  const asked = (side: Side, tap?: Asking['tap']) => {
    return ask(side, { ...read, token: side === read.by ? undefined : read.otherToken, tap }, signal)
  }
  const other = read.other ?? (await asked(otherSide(read.by)))
  const [v1, v2] = read.by === 'v1' ? [read.first, other] : [other, read.first]
  const question = { operation: read.operation, request: read.read() }
  if (read.learn) await learn(read, v1, asked, judging)
  const judgement = judging.judge(question, v1.seen, v2.seen)
  if (judgement.outcome !== 'mismatch') return { judgement, v1, v2 }
  const again = {
    v1: (await asked('v1')).seen,
    v2: (await asked('v2', (exchanged) => calls.push(exchanged))).seen,
    v1Again: (await asked('v1')).seen,
  }
  const settled = judging.settle(question, { v1: v1.seen, v2: v2.seen, judgement }, again)
  // Another comparison may have learnt meanwhile that it is noise.
  const now = judging.judge(question, v1.seen, v2.seen)
  if (now.outcome !== 'mismatch') return { judgement: now, v1, v2 }
  if (settled.outcome === 'transient') return { judgement: excuse(read) ?? settled, v1, v2 }
  return { judgement: settled, v1, v2, observed: { request: question.request, v1: again.v1, calls } }
}

/**
 * Says why a difference that did not repeat may be no fault of v2.
 * If v2 answered first, v1's answer at that time is unknown. Only a difference that repeats then counts against v2.
 */
function excuse({ by, wrote }: AnsweredRead): Judgement | undefined {
  const race = (reason: string): Judgement => ({ outcome: 'race', findings: [], reason })
  if (wrote()) return race('the caller wrote at the same time')
  return by === 'v2' ? race('the two agreed when they were asked again, and v2 had been asked first') : undefined
}

async function learn(
  { operation }: AnsweredRead,
  first: SideAnswer,
  asked: (side: Side) => Promise<SideAnswer>,
  judging: Judging,
): Promise<void> {
  const { seen } = await asked('v1')
  if (first.seen.status >= 400 || seen.status !== first.seen.status) return
  const compared = judging.compare(operation, first.seen, seen)
  if ('findings' in compared) judging.noise.learn(operation.id, compared.findings)
}
