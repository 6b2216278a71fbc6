import type { Budget, BudgetShare } from '../../migrate/modes/serve.ts'
import type { Fleet } from '../fleet.ts'
import { liveIn } from '../heartbeat.ts'
import { type FleetReading, type Part, reading } from '../part.ts'

/** Keeps the fallbacks of all replicas together within the setting. */
export interface SharedBudget extends Part, BudgetShare {}

const MINUTE = 60_000

/** Milliseconds before the end of a minute in which a replica draws for the next one. */
const AHEAD_MS = 5000

/** Milliseconds without an answer of the store after which a replica takes its even part of what nobody has drawn. */
const SILENT_MS = 2000

/** Replicas that are assumed as long as their number is unknown, so that the first ones draw little. */
const UNKNOWN = 16

/** What is known of one minute. */
interface Minute {
  readonly nth: number
  readonly reading: FleetReading
  /** What this replica may take, and what nobody has drawn yet. */
  drawn: number
  rest: number
  taken: number
  byStrangers: number
}

/** Each replica draws small parts of the budget of a minute, so that no request waits for the store. */
export function createSharedBudget(
  perMinute: number,
  fleet: Pick<Fleet, 'id' | 'replicas' | 'unread' | 'soon' | 'state' | 'time'>,
): SharedBudget {
  const now = fleet.time
  const minuteOf = (nth: number): Minute => {
    const take = (sums: Readonly<Record<string, number>>) => {
      minute.drawn = sums[fleet.id] ?? 0
      minute.rest = perMinute - Object.values(sums).reduce((sum, one) => sum + one, 0)
    }
    const minute: Minute = { nth, reading: reading('sums', nameOf(nth), take), drawn: 0, rest: perMinute, taken: 0, byStrangers: 0 }
    return minute
  }
  let minutes = [minuteOf(Math.floor(now() / MINUTE))]
  /** undefined as long as nobody has told. */
  let replicas: number | undefined
  const isSilent = () => fleet.state().silentMs > SILENT_MS
  const part = () => Math.ceil(perMinute / (4 * (replicas ?? UNKNOWN)))
  /** Returns this minute, and the next one when it is near. */
  const follow = (): readonly Minute[] => {
    const first = Math.floor(now() / MINUTE)
    const last = Math.floor((now() + AHEAD_MS) / MINUTE)
    if (minutes[0]?.nth !== first || minutes.at(-1)?.nth !== last) {
      minutes = [first, last].flatMap((nth, at) =>
        at > 0 && last === first ? [] : (minutes.find((one) => one.nth === nth) ?? minuteOf(nth)),
      )
    }
    return minutes
  }
  return {
    changes() {
      // One that nobody can read serves too, and takes its part.
      const live = liveIn(fleet)
      if (live > 0 && !isSilent()) replicas = live
      const short = follow().filter(({ drawn, taken, rest }) => rest > 0 && drawn - taken < part() / 2)
      // What was taken and the store has lost is drawn again.
      const amount = ({ drawn, taken }: Minute) => Math.max(part(), taken - drawn)
      return short.map((one) => ({ kind: 'draw', name: nameOf(one.nth), amount: amount(one), most: perMinute, keepMs: 2 * MINUTE }))
    },
    readings: () => follow().map((minute) => minute.reading),
    take(isStranger) {
      const [minute] = follow()
      if (!minute) return false
      const most = minute.drawn + (isSilent() ? Math.floor(minute.rest / (replicas ?? 1)) : 0)
      if (minute.rest > 0 && most - minute.taken <= part() / 2) fleet.soon()
      if (minute.taken >= most || (isStranger && minute.byStrangers >= Math.ceil(most / 2))) return false
      minute.taken += 1
      if (isStranger) minute.byStrangers += 1
      return true
    },
  }
}

/** Lets a replica take its fallbacks from the budget of its fleet. */
export function shareBudget(perMinute: number, budget: Pick<Budget, 'shareBy'>, fleet: Fleet): Part {
  const shared = createSharedBudget(perMinute, fleet)
  budget.shareBy(shared)
  return shared
}

function nameOf(minute: number): string {
  return `fallback:${minute}`
}
