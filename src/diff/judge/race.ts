import type { Operation } from '../../tables/operations/operation.ts'
import type { Compare, SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import type { AskedRequest } from './asked-request.ts'
import { type Cause, causeOf, type Events, REASONS } from './cause.ts'
import { type Explained, type Judge, type Judgement, unexplained } from './judge.ts'
import { createMovement, type Movement } from './movement.ts'
import type { Noise } from './noise.ts'
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
 * - v2 differs twice in a row, in the same place or without a cause: a mismatch.
 * - v2 agrees now, and every earlier finding has a cause: a race.
 * - v2 agrees now, and an earlier finding has none: a transient difference.
 * - v2 differs in another place each time, with a cause: ask again. The last answer leaves a race.
 */
export function createSettle(judge: Judge, compare: Compare, noise: Noise): Settle {
  return (asked, trial) => {
    const latest = judge(asked, trial.v1[trial.v2.length - 1]!, trial.v2.at(-1)!)
    if (latest.outcome === 'inconclusive' || latest.outcome === 'error') return latest
    const changes = trial.v1.slice(1).map((after, nth) => changesOf(compare, noise, asked.operation, trial.v1[nth]!, after))
    if (!changes.every((one) => one !== undefined)) return inconclusive('v1 could not be asked again')
    const around = changes.map(createMovement)
    const events = { ...trial, movement: createMovement(changes.flat()) }
    const rounds = trial.v2.map((v2, nth) => {
      const answers = { v1: trial.v1[nth]!, v2, v2First: trial.v2First && nth === 0 }
      return roundOf(judge(asked, answers.v1, v2), { ...events, ...answers }, around[nth]!)
    })
    return verdict(rounds, trial.isLast)
  }
}

function verdict(rounds: readonly Round[], isLast: boolean): Judgement | undefined {
  const [first, last, before] = [rounds[0]!, rounds.at(-1)!, rounds.at(-2)!]
  // Another comparison may have learnt meanwhile that it is noise.
  if (first.judgement.outcome !== 'mismatch') return first.judgement
  const proven = provenBy(last, before)
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

/** Returns the findings that two answers of v2 in a row prove. An event that is not seen could explain one answer, but hardly both. */
function provenBy(last: Round, before: Round): readonly Explained[] {
  const known = new Set(before.still.map(keyOf))
  const wasFaulty = before.still.some((finding) => before.causes.get(finding) === undefined)
  return last.still.filter((finding) => known.has(keyOf(finding)) || (wasFaulty && last.causes.get(finding) === undefined))
}

function roundOf(judgement: Judgement, events: Events, around: Movement): Round {
  const findings = unexplained(judgement.findings)
  return {
    judgement,
    still: findings.filter((finding) => !around.explains(finding)),
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

/** Returns what changed between two answers of v1, without noise; undefined if that is unknown. */
function changesOf(compare: Compare, noise: Noise, operation: Operation, before: SeenAnswer, after: SeenAnswer) {
  if (before.status >= 500 || after.status >= 500) return undefined
  const compared = compare(operation, before, after)
  return 'findings' in compared ? compared.findings.filter((finding) => !noise.isNoise(operation.id, finding)) : undefined
}

function inconclusive(reason: string): Judgement {
  return { outcome: 'inconclusive', findings: [], reason }
}
