import { mappings } from '../../../mappings/index.ts'
import { createInventory, createUseOf, type RequestKind } from '../../../src/migrate/clients.ts'
import { type CutoverVerdict, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, createTallies, type Evidence } from '../../../src/migrate/evidence/evidence.ts'
import { EACH } from '../../../src/migrate/evidence/terms.ts'
import { createSampler, reservesOf, type Sampler } from '../../../src/migrate/observe/observe.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { isRead } from '../../../src/serve/sides.ts'
import { isReadBack } from '../../../src/tables/operations.ts'
import { seeded, zipf } from '../../stage/clocks.ts'
import { createTally, score, type Tally } from './judge.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const useOf = createUseOf(operations)

/** Operations that v2 can answer and whose effect can be read, busiest first. */
export const answered = operations.filter(({ id }) => {
  const use = useOf(id)
  return use?.kind !== 'v1-only' && !(use?.readBack && !isReadBack(use.readBack))
})
const reads = answered.filter(isRead).map(({ id }) => id)
const writes = answered.filter((operation) => !isRead(operation)).map(({ id }) => id)

/** Operations that clients call all the time, by Zipf's law: two of five are writes. Jobs call the others. */
const STEADY = 38
const steady = Array.from({ length: STEADY }, (_, nth) => (nth % 5 === 2 || nth % 5 === 4 ? writes.shift() : reads.shift()) ?? '')

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A job of one token: it begins at this hour of each day, or some minutes after each hour, and sends so many requests, five seconds apart. */
interface Job {
  readonly operation: string
  readonly hour?: number
  readonly minute?: number
  readonly requests: number
  readonly kinds: number
}

const JOBS: readonly Job[] = [
  { operation: reads.shift() ?? '', hour: 2.5, requests: 120, kinds: 3 },
  { operation: reads.shift() ?? '', hour: 7.2, requests: 300, kinds: 2 },
  { operation: reads.shift() ?? '', hour: 13.1, requests: 60, kinds: 4 },
  { operation: writes.shift() ?? '', minute: 17, requests: 10, kinds: 2 },
  { operation: reads.shift() ?? '', hour: 3.3, requests: 1, kinds: 1 },
  { operation: reads.shift() ?? '', hour: 9.6, requests: 1, kinds: 1 },
  { operation: reads.shift() ?? '', hour: 12.8, requests: 1, kinds: 1 },
]

/** The operation that a job calls once, and the latest on a day, and when. */
export const { operation: DAILY = '', hour: DAILY_AT = 0 } = JOBS.at(-1) ?? {}

const names = [...steady, ...JOBS.map(({ operation }) => operation)]
export const OPERATIONS = new Set(names).size

const known = operations.filter(({ id }) => names.includes(id))
const isWrite = new Set(operations.filter((operation) => !isRead(operation)).map(({ id }) => id))

interface Call {
  readonly at: number
  readonly operation: string
  readonly caller: string
  readonly shape: string
}

const CLIENTS = 387
const CALLERS = 40

/** The kinds of a steady operation: one to eight. */
const kindsOf = (nth: number) => 1 + ((nth * 5) % 8)
const shapes = steady.map((id, nth) => Array.from({ length: kindsOf(nth) }, (_, kind) => `${id}?limit=k${kind}`))
const callers = steady.map((_, nth) => Array.from({ length: CALLERS }, (_, its) => `c${(nth * 7 + its * 9) % CLIENTS}`))

/** The calls of all jobs in a time, the earliest first. */
function jobCalls(hours: number): readonly Call[] {
  return JOBS.flatMap(({ operation, hour, minute = 0, requests, kinds }) => {
    const [first, every] = hour === undefined ? [(minute / 60) * HOUR, HOUR] : [hour * HOUR, DAY]
    const runs = Math.max(0, Math.ceil((hours * HOUR - first) / every))
    return Array.from({ length: runs }, (_, run) =>
      Array.from({ length: requests }, (_, nth) => {
        return { at: first + run * every + nth * 5_000, operation, caller: `job ${operation}`, shape: `${operation}?limit=k${nth % kinds}` }
      }),
    ).flat()
  }).sort((a, b) => a.at - b.at)
}

const busy = zipf(STEADY)

/** Draws the steady requests. In bursts, one client repeats one request. */
function createSteady(random: () => number): () => Omit<Call, 'at'> {
  let left = 0
  let last: Omit<Call, 'at'> | undefined
  const drawn = () => {
    const nth = busy.draw(random)
    const one = (of: readonly string[] | undefined) => of?.[Math.floor(of.length * random() ** 2)] ?? ''
    return { operation: steady[nth] ?? '', caller: one(callers[nth]), shape: one(shapes[nth]) }
  }
  return () => {
    if (last && left > 0) {
      left -= 1
      return last
    }
    last = drawn()
    if (random() < 0.01) left = 30
    return last
  }
}

export interface Look {
  /** Hours since the proxy began. */
  readonly hours: number
  readonly verdict: CutoverVerdict
  readonly strict: CutoverVerdict
}

export interface DaySettings {
  readonly seed: number
  readonly hours: number
  readonly target: number
  /** Requests a second. */
  readonly rate: number
  /** Comparisons a second. */
  readonly perSecond: number
  /** An operation that v2 always fails. */
  readonly failing?: string
  /** A person rehearses the reads that the verdict misses, at every look. */
  readonly isRehearsed: boolean
  /** Looks every ten minutes, and once more after the first call of the failing operation. Ends the day by returning true. */
  readonly look: (look: Look) => boolean
}

const LOOK_MS = 600_000

/** After so long a person lets v2 make the writes that it was never asked for. */
const TRIALS_MS = HOUR

const kindOf = (shape: string): RequestKind => ({ shape, path: [], query: [] })

/** Comparisons are made at once. */
export const ROOM = { most: 1, left: () => 1, usedBy: () => 0 }

/** Creates the sampler of one proxy, which goes by its own evidence and traffic. */
export function samplerBy(
  perSecond: number,
  evidence: Pick<Evidence, 'observed'>,
  traffic: () => ReadonlyMap<string, number>,
  now: () => number,
  random: () => number,
): Sampler {
  let [readAt, reserves] = [Number.NEGATIVE_INFINITY, reservesOf(evidence.observed, traffic())]
  const reserve = (operation: string) => {
    if (now() - readAt >= 1_000) [readAt, reserves] = [now(), reservesOf(evidence.observed, traffic())]
    return reserves.get(operation) ?? 0
  }
  return createSampler({ perSecond }, { now, random, reserve }, ROOM)
}

/** Lets a proxy serve a mixture of 45 operations on a clock of its own: sampler, tallies, evidence, inventory and verdict are the real ones. */
export function runDay({ seed, hours, target, rate, perSecond, failing, isRehearsed, look }: DaySettings): void {
  const [traffic, choices] = [seeded(seed), seeded(seed + 1_000_003)]
  let now = 0
  const evidence = createEvidence(() => now)
  const tallies = createTallies(evidence, { record: () => {} }, () => now)
  const inventory = createInventory(known)
  const tried = new Set<string>()
  const sampler = samplerBy(
    perSecond,
    evidence,
    () => inventory.traffic(),
    () => now,
    choices,
  )
  const serve = ({ operation, caller, shape }: Omit<Call, 'at'>) => {
    const mode = isWrite.has(operation) && tried.has(operation) ? 'diff-v2' : 'diff-v1'
    if (inventory.use({ caller }, { operation, mode, at: now })) inventory.look(caller, operation, kindOf(shape))
    const write = isWrite.has(operation)
    const chosen = sampler.choose({ user: operation, caller, ...(!write && { shape: () => shape }) })
    tallies.used(operation)
    if (typeof chosen === 'string') return tallies.uncompared(operation, chosen)
    if (write && mode === 'diff-v1') tallies.uncompared(operation, 'untried')
    const outcome = operation === failing ? ('mismatch' as const) : ('match' as const)
    const check = write ? ('after-write' as const) : ('read' as const)
    tallies.count({ operation, caller, shape, mode, check, outcome, ...(chosen.weight > 1 && { weight: chosen.weight }) } as Comparison)
  }
  const judge = () => {
    const counted = { traffic: inventory.traffic(), asked: inventory.asked(), clients: [], operations: known, target, withoutV1: false }
    const all = evidence.all()
    const verdict = judgeCutover({ ...counted, evidence: all })
    return { hours: now / HOUR, verdict, strict: judgeCutover({ ...counted, evidence: all, isStrict: true }) }
  }
  const rehearse = ({ verdict }: Look) => {
    for (const { operation, blocks, missing } of verdict.operations) {
      if (!blocks || isWrite.has(operation)) continue
      const missed = new Set(missing?.map(({ kind }) => `${operation}?${kind}`))
      const asked = [...(inventory.asked().get(operation)?.kinds.keys() ?? [])].filter((shape) => !missing || missed.has(shape))
      const outcome = operation === failing ? 'mismatch' : 'match'
      const rehearsed = { operation, caller: 'rehearsal', outcome, rehearsed: true } as const
      for (const shape of asked) for (let nth = 0; nth < EACH; nth += 1) evidence.observe({ ...rehearsed, shape })
    }
  }
  const lookNow = () => {
    const seen = judge()
    if (isRehearsed) rehearse(seen)
    if (now >= TRIALS_MS)
      for (const { operation, blocks } of seen.verdict.operations) if (blocks && isWrite.has(operation)) tried.add(operation)
    return look(seen)
  }
  const jobs = jobCalls(hours)
  const next = createSteady(traffic)
  let [nextJob, nextLook] = [0, LOOK_MS]
  while (now < hours * HOUR) {
    const at = now - Math.log1p(-traffic()) * (1000 / rate)
    for (let job = jobs[nextJob]; job && job.at <= at; job = jobs[nextJob]) {
      now = job.at
      nextJob += 1
      serve(job)
      if (job.operation === failing && lookNow()) return
    }
    now = at
    serve(next())
    if (now < nextLook) continue
    nextLook += LOOK_MS
    if (lookNow()) return
  }
}

/** The usual target. */
const TARGET = 0.001

/** Requests, and comparisons, a second: a third of the requests, or room for each. A call that finds no room costs a job a day. */
const SCARCE = { rate: 60, perSecond: 20 }
const AMPLE = { rate: 20, perSecond: 40 }

/** Runs a day until a deadline. Returns false if that came first. */
function runUntil(deadline: number, settings: DaySettings): boolean {
  let isOver = false
  runDay({
    ...settings,
    look(seen) {
      isOver = performance.now() >= deadline
      return isOver || settings.look(seen)
    },
  })
  return !isOver
}

const inTheWay = ({ operations }: Look['strict']) => operations.filter(({ blocks }) => blocks)

/** Hours before READY at which an estimate no longer matters: the verdict tells whole hours. */
const SOON = 1

/** What was said, and in how many hours READY came. */
type Said = readonly (readonly [hours: number, days: number])[]

function estimates(name: string, said: Said, end: number | undefined): Tally {
  const tally = createTally(`${name}: the time until READY is said within a factor of two, or not at all`, 0.9)
  const told = said.filter(([hours]) => end !== undefined && end - hours >= SOON)
  for (const [hours, days] of told) {
    const [left, foretold] = [(end ?? 0) - hours, 24 * days]
    const isNear = foretold >= left / 2 && foretold <= left * 2
    score(tally, isNear ? undefined : `at ${shown(hours)}: ${shown(foretold)} said, ${shown(left)} came`)
  }
  const [every, samples] = [Math.max(1, Math.floor(told.length / 4)), told]
  for (const [hours, days] of samples.filter((_, nth) => nth % every === 0)) {
    tally.notes.push(`at ${shown(hours)}: ${shown(24 * days)} said, ${shown((end ?? 0) - hours)} came`)
  }
  return tally
}

const shown = (hours: number) => `${hours.toFixed(1)} h`

/** A day of a right v2 at 60 requests a second. A person rehearses the reads that the verdict misses, and lets v2 write after an hour. */
function rehearsed(seed: number, deadline: number): readonly Tally[] {
  const HOURS = 24
  const name = `a day of ${OPERATIONS} operations at 60 requests a second, a right v2`
  const tally = createTally(`${name}: READY within ${HOURS} hours, rehearsals included, and at the end of the day`, 1, 1)
  const said: [hours: number, days: number][] = []
  let [first, last, strict] = [undefined as number | undefined, undefined as Look | undefined, undefined as number | undefined]
  const unready: number[] = []
  const settings = { seed, hours: HOURS, target: TARGET, ...SCARCE, isRehearsed: true }
  const isWhole = runUntil(deadline, {
    ...settings,
    look(seen) {
      last = seen
      if (seen.verdict.ready) first ??= seen.hours
      else if (first !== undefined) unready.push(seen.hours)
      if (first === undefined && seen.verdict.whole?.days !== undefined) said.push([seen.hours, seen.verdict.whole.days])
      if (seen.strict.ready) strict ??= seen.hours
      return false
    },
  })
  if (!isWhole || !last) return [tally, estimates(name, [], undefined)]
  const isReady = first !== undefined && last.verdict.ready
  score(tally, isReady ? undefined : `READY first after ${first} hours, and at the end: ${last.verdict.ready}`)
  const again = unready.length === 0 ? '' : `, not READY at ${unready.map(shown).join(', ')} (a job came first)`
  tally.notes.push(`READY of all together after ${first === undefined ? 'more than a day' : shown(first)}${again}`)
  const missing = inTheWay(last.strict)
  const [slowest] = [...missing].sort((a, b) => yearsOf(b) - yearsOf(a))
  const pace = slowest === undefined ? '' : `, of which ${slowest.operation} takes ${yearsOf(slowest).toFixed(1)} years at its pace`
  const each = strict === undefined ? `after a day, ${missing.length} are in the way${pace}` : shown(strict)
  tally.notes.push(`READY of each by itself (--each): ${each}`)
  return [tally, estimates(name, said, first)]
}

const yearsOf = ({ needed = 0, evidence }: Look['strict']['operations'][number]) => needed / Math.max(1e-9, evidence?.perDay ?? 0) / 365

/** The same without rehearsals: three runs of each daily job are waited for. At a third of the rate, which says the same sooner. */
function waitedFor(seed: number, deadline: number): readonly Tally[] {
  const HOURS = 64
  const name = `${HOURS} hours of ${OPERATIONS} operations, a right v2, nothing rehearsed`
  const tally = createTally(`${name}: READY after the third run of each daily job`, 1, 1)
  const said: [hours: number, days: number][] = []
  let first: number | undefined
  // Nobody knows of a job that has never run.
  const KNOWN_AT = 14
  const settings = { seed, hours: HOURS, target: TARGET, ...AMPLE, isRehearsed: false }
  const isWhole = runUntil(deadline, {
    ...settings,
    look({ hours, verdict: { ready, whole } }) {
      if (hours < KNOWN_AT) return false
      if (ready) first ??= hours
      if (whole?.days !== undefined) said.push([hours, whole.days])
      return first !== undefined
    },
  })
  if (!isWhole) return [tally, estimates(name, [], undefined)]
  score(tally, first === undefined ? 'not READY' : undefined)
  tally.notes.push(`READY after ${first === undefined ? 'more' : shown(first)}`)
  return [tally, estimates(`${name}, once each job has run`, said, first)]
}

/** v2 is right, but for an operation that a job calls once a day. */
function failingDaily(seed: number, deadline: number): readonly Tally[] {
  const said = createTally('v2 fails one daily operation only: the verdict names it after its first call', 1, 1)
  const never = createTally('v2 fails one daily operation only: never READY after its first call, for 40 hours with rehearsals', 1, 1)
  let [first, ready] = [undefined as Look | undefined, undefined as number | undefined]
  const settings = { seed, hours: 40, target: TARGET, ...AMPLE, failing: DAILY, isRehearsed: true }
  const isWhole = runUntil(deadline, {
    ...settings,
    look(seen) {
      if (seen.hours < DAILY_AT) return false
      first ??= seen
      if (seen.verdict.ready) ready ??= seen.hours
      return false
    },
  })
  if (!isWhole) return [said, never]
  const reason = first?.verdict.operations.find(({ operation }) => operation === DAILY)?.reason
  score(said, first && reason?.includes('1 mismatch') && !first.verdict.ready ? undefined : `${first?.hours}: ${reason}`)
  said.notes.push(`at ${shown(first?.hours ?? 0)}: ${reason}`)
  score(never, ready === undefined ? undefined : `READY at ${shown(ready)}`)
  return [said, never]
}

/** Days of a real mixture, through the sampler, the evidence and the verdict of a proxy. */
export function dayCases(seed: number) {
  return [
    { name: 'a day, rehearsed', run: (deadline: number) => rehearsed(seed, deadline) },
    { name: 'days, nothing rehearsed', run: (deadline: number) => waitedFor(seed + 1, deadline) },
    { name: 'a failing daily operation', run: (deadline: number) => failingDaily(seed + 2, deadline) },
  ]
}
