import type { CutoverScope, CutoverVerdict, OperationVerdict, Standing } from '../migrate/evidence/cutover.ts'
import { many, OBSERVATION } from '../migrate/evidence/evidence.ts'
import type { Replicas } from '../migrate/evidence/replicas.ts'
import type { AskedReplica } from './ask-replicas.ts'

/** The answer of `crosswalk cutover`, as `--json` prints it. */
export interface CutoverAnswer extends CutoverVerdict {
  readonly scope: CutoverScope
  /** The proxies that were asked. The answer is never ready if one of them has a problem. */
  readonly asked: readonly Pick<AskedReplica, 'admin' | 'problem'>[]
  /** Requests by operation id whose credential no service accepted. They count nowhere. */
  readonly strangers: Readonly<Record<string, number>>
  /** What replicas that share a store have not told, in sentences. The answer is never ready then. */
  readonly missing: readonly string[]
  /** Operations whose clients reached more than one proxy. */
  readonly shared: readonly string[]
  /** Rollouts of these operations that are not done, in sentences. */
  readonly rollouts: readonly string[]
  /** What the answer takes for granted, in sentences. */
  readonly assumptions: readonly string[]
}

/** Says what limits the answer. */
export function assumptionsOf(
  scope: CutoverScope,
  asked: readonly AskedReplica[],
  { shared }: Pick<Replicas, 'shared'>,
): readonly string[] {
  const ofClients =
    'Only operations that these clients call are judged. Their evidence is that of all clients, because it is known by operation.'
  const ofReplicas = `At ${many(shared.length, 'operation')}, clients reached more than one proxy, so one request may be counted twice. Only the clean observations of the proxy with the most count there; crosswalk report reads the record files of all and counts each once.`
  const several = asked.length > 1 && shared.length > 0
  return [...(scope.clients.length > 0 ? [ofClients] : []), ...(several ? [ofReplicas] : [])]
}

/** Writes the answer as lines for a terminal: every operation, what limits the answer, and the answer itself. */
export function cutoverLines({
  ready,
  operations,
  reasons,
  asked,
  missing,
  strangers,
  rollouts,
  assumptions,
}: CutoverAnswer): readonly string[] {
  const inTheWay = operations.filter(({ blocks }) => blocks)
  const unasked = asked.filter(({ problem }) => problem !== undefined)
  const unit = inTheWay.some(({ needed = 0 }) => needed > 0) ? ` ${OBSERVATION}` : ''
  const unknown = ready || inTheWay.length + unasked.length + missing.length > 0 ? [] : reasons.map((reason) => `  no   ${reason}`)
  return [
    ...operations.filter(({ blocks }) => !blocks).map(lineOf),
    ...inTheWay.map(lineOf),
    ...unknown,
    ...notCounted(strangers),
    ...rollouts,
    ...assumptions,
    ...(ready ? reasons : conclusion(inTheWay.length + unknown.length, unasked.length, asked.length, unit)),
    ...missing.map((sentence) => `INCONCLUSIVE: ${sentence}`),
  ]
}

function lineOf({ standing, blocks, reason }: OperationVerdict): string {
  return `  ${blocks ? 'no' : (MARKS[standing] ?? 'ok')}   ${reason}`
}

/** What is not in the way, and not proven either. */
const MARKS: Partial<Readonly<Record<Standing, string>>> = { 'v1-only': 'v1', unverifiable: '--' }

/** Requests that no service accepted prove nothing. The person who decides should still know their number. */
function notCounted(strangers: CutoverAnswer['strangers']): readonly string[] {
  const requests = Object.values(strangers).reduce((sum, count) => sum + count, 0)
  const operations = Object.keys(strangers).length
  return requests === 0 ? [] : [`Not counted: ${many(requests, 'request')} of strangers to ${many(operations, 'operation')}.`]
}

function conclusion(inTheWay: number, unasked: number, asked: number, unit: string): readonly string[] {
  return [
    ...(inTheWay > 0 ? [`Not ready: ${inTheWay} in the way.${unit}`] : []),
    ...(unasked > 0 ? [`Not known: ${unasked} of ${many(asked, 'proxy', 'proxies')} could not be asked.`] : []),
  ]
}
