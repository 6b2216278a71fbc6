import type { Compare, SeenAnswer } from '../../diff/compare/compare.ts'
import { isDifference } from '../../diff/evidence/observation.ts'
import type { AskedRequest } from '../../diff/judge/asked-request.ts'
import type { Judge, Judgement } from '../../diff/judge/judge.ts'
import type { Noise } from '../../diff/judge/noise.ts'
import type { Settle } from '../../diff/judge/race.ts'
import { collectStamps, type Stamps } from '../../diff/judge/stamps.ts'
import type { Exchanged, Observed } from '../../diff/records/exhibit.ts'
import { otherSide, type Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Ask, AskedRead, Asking, SideAnswer } from './ask.ts'
import { type OtherReplicas, UNTOLD } from './other-replicas.ts'

/** The parts that judge answers. They are pure, except that noise learns. */
export interface Judging {
  readonly compare: Compare
  readonly judge: Judge
  readonly settle: Settle
  readonly noise: Noise
  readonly others: OtherReplicas
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A read whose first answer is known. Its `read` does not throw: a request that the tables cannot read is not compared. */
export type AnsweredRead<Read extends AskedRead = Asking> = Read & FirstAnswer

interface FirstAnswer {
  /** The side that gave the first answer. */
  readonly by: Side
  /** When it was asked for, in milliseconds since 1970. */
  readonly since: number
  readonly first: SideAnswer
  /** The other side's answer, if it is known already: v2 failed, and v1 answered instead. */
  readonly other?: SideAnswer | undefined
  /** The other side's own page token, for a page that is not the first. */
  readonly otherToken?: string | undefined
  /** Whether the caller wrote since the request arrived. Absent if no write of it matters. */
  readonly wrote?: () => boolean
  /** Ask v1 once more, to learn which members change by themselves. */
  readonly learn: boolean
}

/** The answers of both sides, and the result of comparing them. */
export interface ComparedRead {
  /** What both sides were asked. */
  readonly asked: AskedRequest
  readonly judgement: Judgement
  readonly v1: SideAnswer
  readonly v2: SideAnswer
  /** What is needed to reproduce a mismatch that repeats. */
  readonly observed?: Observed
}

/** Most times that v2 is asked again while v1 does not stand still, and the time after which it is not asked again. */
const ROUNDS = 3
const TRIAL_MS = 10_000

type Asked = (side: Side, tap?: AskedRead['tap']) => Promise<SideAnswer>

/** Asks the other side and compares. A difference only counts after both sides were asked again (design §7). */
export async function compareRead<Read extends AskedRead>(
  read: AnsweredRead<Read>,
  ask: Ask<Read>,
  judging: Judging,
  signal: Signal,
): Promise<ComparedRead> {
  const askSide: Asked = (side, tap) => ask(side, { ...read, token: side === read.by ? undefined : read.otherToken, tap }, signal)
  const other = read.other ?? (await askSide(otherSide(read.by)))
  const [v1, v2] = read.by === 'v1' ? [read.first, other] : [other, read.first]
  const asked = { operation: read.operation, request: read.read() }
  if (read.learn) await learn(read, v1, askSide, judging)
  const judgement = judging.judge(asked, v1.seen, v2.seen)
  // Noise that stops must not go on excusing anything.
  if (judgement.outcome === 'noise' && !read.learn) await learn(read, v1, askSide, judging)
  if (judgement.outcome !== 'mismatch') return { asked, judgement, v1, v2 }
  return { asked, v1, v2, ...(await tryAgain(read, asked, [v1.seen, v2.seen], askSide, judging)) }
}

/** Asks both sides in turn until it is known what a difference means. */
async function tryAgain(
  { by, since, wrote }: FirstAnswer,
  question: AskedRequest,
  first: readonly [v1: SeenAnswer, v2: SeenAnswer],
  asked: Asked,
  judging: Judging,
) {
  const began = judging.now()
  const v1 = [first[0], (await asked('v1')).seen]
  const v2 = [first[1]]
  const stamps = new Map<string, Stamps>()
  for (;;) {
    const calls: Exchanged[] = []
    v2.push((await asked('v2', (exchanged) => calls.push(exchanged))).seen)
    v1.push((await asked('v1')).seen)
    for (const { body } of calls) collectStamps(body, stamps)
    const to = judging.now()
    const isLast = v2.length > ROUNDS || to - began > TRIAL_MS
    const trial = { v2First: by === 'v2', v1, v2, stamps, period: { from: since, to }, isLast }
    const settle = (hasWritten: boolean) => judging.settle(question, { ...trial, wrote: hasWritten })
    const judgement = wrote ? await settled(settle, wrote, judging.others) : settle(false)
    learnFrom(question.operation, v1.at(-2)!, v1.at(-1)!, judging)
    if (judgement) return { judgement, observed: { request: question.request, v1: v1.at(-2)!, calls } }
  }
}

/**
 * Settles a trial. Of a difference, the caller may have written through another replica: the others tell that before it counts. If they cannot
 * tell, it counts only if such a write would not explain it.
 */
async function settled(settle: (wrote: boolean) => Judgement | undefined, wrote: () => boolean, others: OtherReplicas) {
  const judgement = settle(wrote())
  const told = judgement && isDifference(judgement.outcome) ? others.told() : undefined
  if (!told) return judgement
  const isKnown = await told
  const again = settle(isKnown ? wrote() : true)
  return again?.outcome === 'race' && !isKnown ? ({ ...again, outcome: 'inconclusive', reason: UNTOLD } as const) : again
}

async function learn({ operation }: AskedRead, first: SideAnswer, asked: Asked, judging: Judging): Promise<void> {
  learnFrom(operation, first.seen, (await asked('v1')).seen, judging)
}

/** Learns from two answers of v1 that were not chosen because they differ. */
function learnFrom(operation: Operation, before: SeenAnswer, after: SeenAnswer, { compare, noise }: Judging): void {
  if (before.status >= 400 || after.status !== before.status) return
  const compared = compare(operation, before, after)
  if ('findings' in compared) noise.learn(operation.id, compared.findings)
}
