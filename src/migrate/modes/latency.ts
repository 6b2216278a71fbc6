import { SERVED_BY } from '../../serve/sides.ts'
import { CIRCUIT, createRateWatch, type RateWatch } from '../evidence/circuit.ts'
import { count, many, percent } from '../evidence/evidence.ts'
import type { SidedRequest } from '../rollout/rollouts.ts'
import type { ModeRule, ModeRules } from './rules.ts'
import { createRuleOf, isWithinShare, type RuleOf, type RulesInForce } from './select.ts'

export type Latencies = ReturnType<typeof createLatencies>

/**
 * Turns a canary back where v2 is slower than its guardrail allows: it tells `slow`. Each replica compares what it has served itself: v2 and
 * v1 are as fast for all of them, and a circuit opens for all.
 */
export function createLatencies(inForce: Pick<RulesInForce, 'onRules' | 'round'>, slow: (operation: string, reason: string) => void) {
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
  const latencies = {
    /** True if a rule has a guardrail: otherwise nothing is measured. A member and no function, because every request looks at it. */
    areWatched: false,
    /** Counts a finished request that began then, by `performance.now()`. */
    see(request: SidedRequest, operation: string, started: number): void {
      const rule = request.round === inForce.round ? ruleOf(operation, request) : undefined
      const side = rule && sideOf(rule, request)
      if (!side || !rule.canary?.guardrail) return
      const name = `${places.get(rule)} ${operation}`
      const watch = watches.get(name) ?? createLatencyWatch(rule.canary.guardrail)
      watches.set(name, watch)
      const reason = watch.see(side, performance.now() - started)
      if (reason === undefined) return
      watches.delete(name)
      slow(operation, reason)
    },
  }
  inForce.onRules(follow)
  return latencies
}

/** Whose request it is. A tester who chose the other side, and a caller whose circuit is open, tells nothing. */
function sideOf({ canary }: ModeRule, { caller, mode }: SidedRequest): LatencySide | undefined {
  const isV2 = SERVED_BY[mode] === 'v2'
  if (canary?.percent === undefined || isWithinShare(caller, canary.percent) !== isV2) return undefined
  return isV2 ? 'share' : 'rest'
}

/** How many times as long as v1 v2 may take, for each quantile that is watched. */
export type Guardrail = NonNullable<NonNullable<ModeRule['canary']>['guardrail']>

/**
 * The quantiles, each as one request in so many. The longest of 99 requests of the rest is shorter than a further one of the same kind once
 * in a hundred times, whatever their times are like. So a share that is as fast exceeds it as seldom, and no quantile has to be estimated.
 */
const ONE_IN = { p50: 2, p90: 10, p99: 100 } as const satisfies Record<keyof Guardrail, number>

const QUANTILES = Object.keys(ONE_IN) as (keyof Guardrail)[]

/** Whose request it was: of a caller of the share, or of the others. */
type LatencySide = 'share' | 'rest'

/** Compares how long v2 and v1 take for one operation. */
interface LatencyWatch {
  /** Counts a finished request. Returns why v2 is too slow, without a full stop, once that is proven. */
  see(side: LatencySide, ms: number): string | undefined
}

/** `operation` by `operation`, so that a slow one is not hidden by many fast ones. */
export function createLatencyWatch(guardrail: Guardrail): LatencyWatch {
  const tests = QUANTILES.flatMap((quantile) => {
    const factor = guardrail[quantile]
    return factor === undefined ? [] : [createQuantileTest(quantile, factor)]
  })
  return { see: (side, ms) => tests.map((test) => test.see(side, ms)).find(Boolean) }
}

/**
 * Requests come in groups: some of the rest, and one of the share amid them, because load changes from minute to minute. It is slow if it took
 * longer than all of them, times the factor. The groups do not overlap, so that chance alone makes each slow once in `ONE_IN` times at most,
 * independently of the others. The run of a circuit judges that: one may look after every request (docs/facts/evidence.md#10-circuits).
 */
function createQuantileTest(quantile: keyof Guardrail, factor: number): LatencyWatch {
  const size = ONE_IN[quantile] - 1
  const watch: RateWatch = createRateWatch({ allowed: 1 / ONE_IN[quantile], odds: CIRCUIT.odds })
  let rest = { n: 0, longest: 0 }
  /** The request of the share that this group judges: the first one in its later half, however long it took. */
  let judged: number | undefined
  return {
    see(side, ms) {
      if (side === 'share') {
        if (judged === undefined && rest.n >= Math.floor(size / 2)) judged = ms
      } else if (rest.n < size) rest = { n: rest.n + 1, longest: Math.max(rest.longest, ms) }
      else if (judged === undefined) rest = { n: 1, longest: ms }
      if (judged === undefined || rest.n < size) return undefined
      watch.observe(judged > factor * rest.longest)
      rest = { n: 0, longest: 0 }
      judged = undefined
      return watch.isBeyond() ? describe(quantile, factor, watch) : undefined
    },
  }
}

const NAMES = { p50: 'median', p90: '90th percentile', p99: '99th percentile' } as const satisfies Record<keyof Guardrail, string>

/** `latency: 3 of the last 3 answers took longer than 1.5 × the 99th percentile of v1, so at least 3.68 % do; 1 % is allowed`. */
function describe(quantile: keyof Guardrail, factor: number, watch: RateWatch): string {
  const { run, allowed } = watch.state()
  const seen = `${count(run?.bad ?? 0)} of the last ${many(run?.n ?? 0, 'answer')} of v2 took longer than ${factor} × the ${NAMES[quantile]} of v1`
  return `latency: ${seen}, so at least ${percent(run?.atLeast ?? 0)} do; ${percent(allowed)} is allowed`
}
