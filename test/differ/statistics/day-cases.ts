import { createTally, type Tally } from '../score/tally.ts'
import { DAILY, DAILY_AT, type DaySettings, type Look, OPERATIONS, runDay } from './day-run.ts'

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
    if (foretold >= left / 2 && foretold <= left * 2) tally.found += 1
    else tally.missed.push(`at ${shown(hours)}: ${shown(foretold)} said, ${shown(left)} came`)
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
      if (seen.isReady) first ??= seen.hours
      else if (first !== undefined) unready.push(seen.hours)
      if (first === undefined && seen.rehearsed.whole?.days !== undefined) said.push([seen.hours, seen.rehearsed.whole.days])
      if (seen.strict.ready) strict ??= seen.hours
      return false
    },
  })
  if (!isWhole || !last) return [tally, estimates(name, [], undefined)]
  if (first !== undefined && last.isReady) tally.found += 1
  else tally.missed.push(`READY first after ${first} hours, and at the end: ${last.isReady}`)
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
    look({ hours, alone, isReady }) {
      if (hours < KNOWN_AT) return false
      if (isReady) first ??= hours
      if (alone.whole?.days !== undefined) said.push([hours, alone.whole.days])
      return first !== undefined
    },
  })
  if (!isWhole) return [tally, estimates(name, [], undefined)]
  if (first === undefined) tally.missed.push('not READY')
  else tally.found += 1
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
      if (seen.isReady) ready ??= seen.hours
      return false
    },
  })
  if (!isWhole) return [said, never]
  const reason = first?.alone.operations.find(({ operation }) => operation === DAILY)?.reason
  if (first && reason?.includes('1 mismatch') && !first.isReady) said.found += 1
  else said.missed.push(`${first?.hours}: ${reason}`)
  said.notes.push(`at ${shown(first?.hours ?? 0)}: ${reason}`)
  if (ready === undefined) never.found += 1
  else never.missed.push(`READY at ${shown(ready)}`)
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
