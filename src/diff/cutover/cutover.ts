import type { Operation } from '../../tables/operation.ts'
import type { Client } from '../clients/client.ts'
import { createUseOf } from '../clients/uses.ts'
import type { OperationEvidence } from '../evidence/evidence.ts'
import { percent } from '../percent.ts'
import { type ClientCalls, type OperationVerdict, type Standing, verdictOf } from './operation-verdict.ts'
import { type RolloutOutlook, turnedBackReason } from './rollout-outlook.ts'

/** The usual target: 0.1 % wrong answers. */
export const TARGET = 0.001

/** Uses of v1 by one client, as far as a verdict needs them. */
export interface ClientUses extends Pick<Client, 'caller' | 'subject'> {
  readonly operations: readonly Pick<Client['operations'][number], 'operation' | 'calls'>[]
}

export interface CutoverQuestion {
  /** Acceptable share of wrong answers, 0 < target < 1. */
  readonly target: number
  /** True asks whether v1 can be switched off. False asks whether v2 can serve what it has, while v1 stays for the rest. */
  readonly withoutV1: boolean
  readonly evidence: readonly OperationEvidence[]
  /** v1 requests by operation id, compared or not. */
  readonly traffic: ReadonlyMap<string, number>
  readonly clients: readonly ClientUses[]
  /** Why each open circuit opened, by operation id. Records do not tell the present state. */
  readonly openCircuits?: ReadonlyMap<string, string>
  /** The rollouts of the proxies that were asked. Records do not tell them either. */
  readonly rollouts?: readonly RolloutOutlook[]
  readonly operations: readonly Operation[]
}

export interface CutoverVerdict {
  /** True if an operation is inside and none is in the way. */
  readonly ready: boolean
  readonly target: number
  readonly withoutV1: boolean
  readonly operations: readonly OperationVerdict[]
  /** One sentence for each operation in the way; one sentence in all if `ready`. */
  readonly reasons: readonly string[]
}

/** Judges whether every operation with traffic can move to v2. */
export function judgeCutover(question: CutoverQuestion): CutoverVerdict {
  const { target, withoutV1, evidence, traffic, clients, openCircuits, rollouts = [], operations } = question
  const useOf = createUseOf(operations)
  const seen = new Map(evidence.map((one) => [one.operation, one]))
  const callers = callersOf(clients)
  const ids = [...new Set([...traffic.keys(), ...seen.keys()])].sort()
  const verdicts = ids.map((id) => {
    const calls = { calls: traffic.get(id) ?? 0, clients: callers.get(id) ?? [] }
    const stops = { openCircuit: openCircuits?.get(id), turnedBack: turnedBackReason(id, rollouts) }
    const known = { use: useOf(id), evidence: seen.get(id), ...stops }
    return verdictOf({ id, ...known, ...calls }, { target, withoutV1 })
  })
  const inTheWay = verdicts.filter(({ blocks }) => blocks).map(({ reason }) => reason)
  const reasons = inTheWay.length > 0 ? inTheWay : [conclusion(verdicts, target)]
  return { ready: inTheWay.length === 0 && count(verdicts, 'inside') > 0, target, withoutV1, operations: verdicts, reasons }
}

function conclusion(verdicts: readonly OperationVerdict[], target: number): string {
  const inside = count(verdicts, 'inside')
  if (verdicts.length === 0) return 'No v1 request was seen yet: nothing is known.'
  if (inside === 0) return 'No request was seen whose answer could be compared: nothing is known.'
  const done = `All ${inside} operations with traffic have a bound of ${percent(target)} or less`
  const [stays, unverifiable] = [count(verdicts, 'v1-only'), count(verdicts, 'unverifiable')]
  const more = [
    ...(stays > 0 ? [`${stays} more ${stays === 1 ? 'stays' : 'stay'} with v1`] : []),
    ...(unverifiable > 0 ? [`${unverifiable} more cannot be verified`] : []),
  ]
  return `${[done, ...more].join('; ')}.`
}

function count(verdicts: readonly OperationVerdict[], standing: Standing): number {
  return verdicts.filter((one) => one.standing === standing).length
}

/** The clients of each operation, those with the most calls first. */
function callersOf(clients: readonly ClientUses[]): ReadonlyMap<string, readonly ClientCalls[]> {
  const found = new Map<string, ClientCalls[]>()
  for (const { caller, subject, operations } of clients) {
    for (const { operation, calls } of operations) {
      const known = found.get(operation) ?? []
      found.set(operation, known)
      known.push({ caller, ...(subject !== undefined && { subject }), calls })
    }
  }
  for (const callers of found.values()) callers.sort((a, b) => b.calls - a.calls || (a.caller < b.caller ? -1 : 1))
  return found
}
