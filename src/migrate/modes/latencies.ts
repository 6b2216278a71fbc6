import { SERVED_BY } from '../../serve/sides.ts'
import { createLatencyWatch, type Guardrail, type LatencyWatch } from '../evidence/latency.ts'
import type { SidedRequest } from '../rollout/rollouts.ts'
import type { ModeRule, ModeRules } from './rules.ts'
import { createRuleOf, isWithinShare, type RuleOf, type RulesInForce } from './select.ts'

/** Turns a canary back where v2 is slower than its guardrail allows. */
export interface Latencies {
  /** True if a rule has a guardrail: otherwise nothing is measured. */
  readonly areWatched: boolean
  /** Counts a finished request that began then. */
  see(request: SidedRequest, operation: string, started: number): void
}

interface LatencySources {
  readonly inForce: Pick<RulesInForce, 'onRules' | 'round'>
  /** Is told that v2 is too slow. */
  readonly slow: (operation: string, reason: string) => void
  /** Milliseconds of the clock that requests are measured with. */
  readonly ticks: () => number
}

/** Each replica compares what it has served itself: v2 and v1 are as fast for all of them, and a circuit opens for all. */
export function createLatencies({ inForce, slow, ticks }: LatencySources): Latencies {
  let ruleOf: RuleOf = () => undefined
  let watches = new Map<string, LatencyWatch>()
  let known: string | undefined
  let places = new Map<ModeRule, number>()
  const follow = ({ rules }: ModeRules) => {
    ruleOf = createRuleOf(rules)
    places = new Map(rules.map((rule, at) => [rule, at]))
    latencies.areWatched = rules.some(({ canary }) => canary?.guardrail !== undefined)
    const guarded = JSON.stringify(rules.map(({ canary, ...rule }) => ({ ...rule, guardrail: canary?.guardrail })))
    // A share that rises leaves the comparison as it is.
    if (guarded !== known) watches = new Map()
    known = guarded
  }
  const watchOf = (name: string, guardrail: Guardrail) => {
    const watch = watches.get(name) ?? createLatencyWatch(guardrail)
    watches.set(name, watch)
    return watch
  }
  // A member and no function, because every request looks at it.
  const latencies = {
    areWatched: false,
    see(request: SidedRequest, operation: string, started: number) {
      const rule = request.round === inForce.round() ? ruleOf(operation, request) : undefined
      const side = rule && sideOf(rule, request)
      if (!side || !rule.canary?.guardrail) return
      const name = `${places.get(rule)} ${operation}`
      const reason = watchOf(name, rule.canary.guardrail).see(side, ticks() - started)
      if (reason === undefined) return
      watches.delete(name)
      slow(operation, reason)
    },
  }
  inForce.onRules(follow)
  return latencies
}

/** Whose request it is. A tester who chose the other side, and a caller whose circuit is open, tells nothing. */
function sideOf({ canary }: ModeRule, { caller, mode }: SidedRequest): 'share' | 'rest' | undefined {
  const isV2 = SERVED_BY[mode] === 'v2'
  if (canary?.percent === undefined || isWithinShare(caller, canary.percent) !== isV2) return undefined
  return isV2 ? 'share' : 'rest'
}
