import type { Callers, Outcome } from './callers.ts'

/** Milliseconds after which an answer is of no use to the one who asked. */
const PATIENCE = 2000

/** What was asked in a span of time, and what came of it. */
export interface Pressure {
  readonly asked: number
  /** Useful answers a second: 200, and not too late. */
  readonly goodput: number
  readonly outcomes: readonly Outcome[]
}

/** Every client asks again as soon as it has its answer: what the service can do at most. */
export async function closedLoop(callers: Callers, clients: number, ms: number): Promise<Pressure> {
  const outcomes: Outcome[] = []
  const begun = performance.now()
  const askOn = async () => {
    while (performance.now() - begun < ms) outcomes.push(await callers.ask())
  }
  await Promise.all(Array.from({ length: clients }, askOn))
  return pressureOf(outcomes, outcomes.length, begun)
}

/**
 * Requests at a fixed pace, whether earlier ones are answered or not: what a crowd does. When it has a size, and all of its clients wait for
 * an answer, what would be asked next is not; who has an answer asks again as soon as the pace allows it.
 */
export async function openLoop(callers: Callers, perSecond: number, ms: number, size = Number.POSITIVE_INFINITY): Promise<Pressure> {
  const outcomes: Outcome[] = []
  const pending = new Set<Promise<unknown>>()
  const begun = performance.now()
  let asked = 0
  const elapsed = () => performance.now() - begun
  const askDue = () => {
    if (elapsed() >= ms) return
    for (const due = (elapsed() / 1000) * perSecond; asked < due; asked++) {
      if (pending.size >= size) continue
      const one = callers.ask().then((outcome) => {
        outcomes.push(outcome)
        pending.delete(one)
        askDue()
      })
      pending.add(one)
    }
  }
  while (elapsed() < ms) {
    askDue()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const pressure = pressureOf(outcomes, asked, begun)
  await Promise.race([Promise.all(pending), new Promise((resolve) => setTimeout(resolve, PATIENCE))])
  return pressure
}

function pressureOf(outcomes: readonly Outcome[], asked: number, begun: number): Pressure {
  const useful = outcomes.filter(({ status, ms }) => status === 200 && ms <= PATIENCE).length
  return { asked, goodput: useful / ((performance.now() - begun) / 1000), outcomes: [...outcomes] }
}

/** The value that this share of the numbers does not exceed. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
