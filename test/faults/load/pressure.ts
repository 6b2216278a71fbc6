import type { Callers, Outcome } from './callers.ts'

/** Milliseconds after which an answer is useless to its client. */
const PATIENCE = 2000

/** The requests of a time span and their results. */
export interface Pressure {
  readonly asked: number
  /** Useful answers a second: 200, and not too late. */
  readonly goodput: number
  readonly outcomes: readonly Outcome[]
}

/** Each client sends its next request as soon as it has its answer. This measures the maximum of the service. */
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
 * Sends requests at a fixed rate, whether earlier ones are answered or not, as a crowd does. If the crowd has a size and all its clients
 * wait for an answer, the next request is skipped. A client with its answer asks again as soon as the rate allows it.
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

/** Returns the value that this share of the numbers does not exceed. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
