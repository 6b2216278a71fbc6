import type { Operation } from '../../tables/operation.ts'
import type { Compare, SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import type { AskedRequest } from './asked-request.ts'
import { type Cause, causeOf, type Events, isRewritten, REASONS } from './cause.ts'
import { type Explained, type Judge, type Judgement, unexplained } from './judge.ts'
import { createMovement, type Movement } from './movement.ts'
import type { Noise } from './noise.ts'
import { shiftedRows } from './shifted.ts'
import type { Period, Stamps } from './stamps.ts'

/** All answers to a request whose first two answers did not match. v1 is asked again around every further answer of v2. */
export interface Trial {
  /** v2 answered first. Otherwise v1 did. */
  readonly v2First: boolean
  /** In the order of asking: one for each answer of v2, and one more. */
  readonly v1: readonly SeenAnswer[]
  /** Two or more. */
  readonly v2: readonly SeenAnswer[]
  readonly period: Period
  /** Stamps of rows by uid, from v2's own answers. */
  readonly stamps: ReadonlyMap<string, Stamps>
  /** The caller wrote meanwhile. */
  readonly wrote: boolean
  /** No further answer will be asked for. */
  readonly isLast: boolean
}

/** Settles a mismatch after the request was repeated. Returns undefined if both sides have to be asked once more. */
export type Settle = (asked: AskedRequest, trial: Trial) => Judgement | undefined

/** One answer of v2, compared with v1. */
interface Round {
  readonly judgement: Judgement
  /** Findings in places where v1 said the same before and after v2. */
  readonly still: readonly Explained[]
  readonly causes: ReadonlyMap<Explained, Cause | undefined>
}

/**
 * Distinguishes a race from a fault of v2 (design §7). `CAUSES` says what can explain a finding. v1 must stand still in what is judged:
 * - v2 differs twice in a row without a cause, or in the same place up to the last answer: a mismatch.
 * - v2 agrees now, and every earlier finding has a cause: a race.
 * - v2 agrees now, and an earlier finding has none: a transient difference.
 * - v2 differs with a cause, or in another place than before: ask again. After the last answer it is a race.
 */
export function createSettle(judge: Judge, compare: Compare, noise: Noise): Settle {
  return (asked, trial) => {
    const latest = judge(asked, trial.v1[trial.v2.length - 1]!, trial.v2.at(-1)!)
    if (latest.outcome === 'inconclusive' || latest.outcome === 'error') return latest
    const changes = trial.v1.slice(1).map((after, nth) => changesOf(compare, asked.operation, trial.v1[nth]!, after))
    if (!changes.every((one) => one !== undefined)) return inconclusive('v1 could not be asked again')
    const around = changes.map((one) => createMovement(one.filter((change) => !noise.isNoise(asked.operation.id, change))))
    const events = { ...trial, movement: createMovement(changes.flat()) }
    const rounds = trial.v2.map((v2, nth) => {
      const answers = { v1: trial.v1[nth]!, v2, v2First: trial.v2First && nth === 0 }
      const judgement = judge(asked, answers.v1, v2)
      const shifted = shiftedRows(asked, unexplained(judgement.findings), { ...events, ...answers }, nth > 0)
      return roundOf(judgement, { ...events, ...answers, shifted }, around[nth]!)
    })
    return verdict(rounds, trial.isLast)
  }
}

function verdict(rounds: readonly Round[], isLast: boolean): Judgement | undefined {
  const [first, last, before] = [rounds[0]!, rounds.at(-1)!, rounds.at(-2)!]
  // Another comparison may have learnt meanwhile that it is noise.
  if (first.judgement.outcome !== 'mismatch') return first.judgement
  const proven = isLast ? [...new Set([...provenBy(last, before), ...alwaysThere(rounds)])] : provenBy(last, before)
  if (proven.length > 0) return blamed(last.judgement, proven)
  if (last.still.length > 0 && !isLast) return undefined
  const faulty = rounds.find((round) => round !== last && withoutCause(round).length > 0)
  if (faulty) {
    const judgement = blamed(faulty.judgement, withoutCause(faulty))
    return {
      ...judgement,
      outcome: 'transient',
      reason: 'v2 answered rightly when it was asked again, and nothing explains the difference',
    }
  }
  if (withoutCause(last).length > 0) return inconclusive('v1 did not stand still while both were asked')
  const causes = new Set([...first.causes.values()].filter((cause) => cause !== undefined))
  return { outcome: 'race', findings: first.judgement.findings, reason: [...causes].map((cause) => REASONS[cause]).join(', ') }
}

/** Returns the findings without a cause, if v2 was also wrong before: in the same place, or in another one without a cause. */
function provenBy(last: Round, before: Round): readonly Explained[] {
  const known = new Set(before.still.map(keyOf))
  const wasFaulty = before.still.some((finding) => before.causes.get(finding) === undefined)
  return last.still.filter((finding) => last.causes.get(finding) === undefined && (wasFaulty || known.has(keyOf(finding))))
}

/** Returns the findings in which v2 never agreed. An event could explain each of its answers, but hardly all of them. */
function alwaysThere(rounds: readonly Round[]): readonly Explained[] {
  const keys = rounds.map(({ still }) => new Set(still.map(keyOf)))
  return rounds.at(-1)!.still.filter((finding) => keys.every((known) => known.has(keyOf(finding))))
}

function roundOf(judgement: Judgement, events: Events, around: Movement): Round {
  const findings = unexplained(judgement.findings)
  return {
    judgement,
    still: findings.filter((finding) => !around.explains(finding) && !isRewritten(finding, events, around)),
    causes: new Map(findings.map((finding) => [finding, causeOf(finding, events)])),
  }
}

function withoutCause({ causes }: Round): readonly Explained[] {
  return [...causes].filter(([, cause]) => cause === undefined).map(([finding]) => finding)
}

/** Returns a judgement without the findings that count against nobody. */
function blamed(judgement: Judgement, bad: readonly Explained[]): Judgement {
  const open = new Set(unexplained(judgement.findings))
  const blamed = new Set(bad)
  return { ...judgement, findings: judgement.findings.filter((finding) => blamed.has(finding) || !open.has(finding)) }
}

function keyOf({ kind, path }: Finding): string {
  return `${kind} ${path}`
}

/** Returns what changed between two answers of v1; undefined if that is unknown. */
function changesOf(compare: Compare, operation: Operation, before: SeenAnswer, after: SeenAnswer) {
  if (before.status >= 500 || after.status >= 500) return undefined
  const compared = compare(operation, before, after)
  return 'findings' in compared ? compared.findings : undefined
}

function inconclusive(reason: string): Judgement {
  return { outcome: 'inconclusive', findings: [], reason }
}
