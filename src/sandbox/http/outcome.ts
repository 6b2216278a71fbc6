import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, Faults } from '../control/faults.ts'
import type { Journal, JournalEntry } from '../control/journal.ts'
import { spoiled } from '../control/spoil.ts'
import { timestamp } from '../world/clock.ts'
import type { World } from '../world/world.ts'
import type { Answer } from './route.ts'
import type { Router } from './router.ts'

/** What serves requests, whichever protocol carries them. */
export type ServerParts = {
  readonly world: World
  readonly router: Router
  readonly journal: Journal
  readonly faults: Faults
  /** Milliseconds of delay before every answer. Control endpoints answer at once. */
  readonly latencyMs: number
}

/** What becomes of a request: an answer, a fault that answers in its place, or nothing, because it is cut off. */
export type RequestOutcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'cut' }

/** A request as the journal shows it. */
export type RequestEntry = Omit<JournalEntry, 'at'>

/** Returns false if `ending` fires meanwhile: a delay must not hold up the shutdown. */
const pause = (ms: number, ending: AbortSignal): Promise<boolean> =>
  ms === 0 ? Promise.resolve(true) : delay(ms, true, { signal: ending }).catch(() => false)

/** Records a request, waits as told, and lets the next fault for it answer, or `ask`. The fault passed to `ask` may shift its list. */
export const outcomeOf = async (
  { world, journal, faults, latencyMs }: ServerParts,
  entry: RequestEntry,
  ending: AbortSignal,
  ask: (fault: Fault | undefined) => Promise<Answer>,
): Promise<RequestOutcome> => {
  journal.record({ ...entry, at: timestamp(world.clock) })
  const fault = faults.take(entry.method, entry.path)
  const waited = await pause(latencyMs + (fault?.delayMs ?? 0), ending)
  if (!waited || fault?.reset) return { kind: 'cut' }
  if (fault && (fault.status !== undefined || fault.body !== undefined)) return { kind: 'fault', fault }
  const answer = await ask(fault)
  if (!fault) return { kind: 'answer', answer }
  return { kind: 'answer', answer: { ...answer, body: spoiled(answer.body, fault), headers: { ...answer.headers, ...fault.headers } } }
}
