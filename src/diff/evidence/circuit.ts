import type { ComparisonOutcome } from '../judge/judge.ts'
import { percent } from '../percent.ts'
import { isDifference, WEIGHTS } from './observation.ts'

export interface CircuitSettings {
  /** Length of the sliding window in milliseconds; it moves in `slots` steps. */
  readonly windowMs: number
  readonly slots: number
  /** Answers that the window must hold before anything is said in favour of v2. */
  readonly minimum: number
  /** Maximum shares of errors and of mismatches, 0–1. A transient difference counts as a mismatch. */
  readonly errors: number
  readonly mismatches: number
}

export const CIRCUIT: CircuitSettings = { windowMs: 60_000, slots: 12, minimum: 20, errors: 0.05, mismatches: 0.01 }

/** `open`: v2 must not serve this operation (share 0). `inconclusive`: too little traffic for a result; never a pass. */
export interface CircuitState {
  readonly state: 'closed' | 'open' | 'inconclusive'
  readonly reason: string
  /** When the circuit opened, in milliseconds since 1970. */
  readonly openedAt?: number
}

export interface Circuit {
  /** Counts one answer of v2. Returns the state if this answer opened the circuit. */
  observe(operation: string, outcome: ComparisonOutcome): CircuitState | undefined
  state(operation: string): CircuitState
  isOpen(operation: string): boolean
  /** Operations whose circuit is open. */
  open(): ReadonlyMap<string, CircuitState>
  /** Closes the circuit and drops its counts. Only a person does this: with a share of 0 there is no traffic that could prove v2 right. */
  reset(operation: string): void
}

interface Slot {
  at: number
  clean: number
  error: number
  mismatch: number
}

export function createCircuit(now: () => number, settings: CircuitSettings = CIRCUIT): Circuit {
  const windows = new Map<string, Slot[]>()
  const opened = new Map<string, CircuitState>()
  const slotMs = settings.windowMs / settings.slots
  const recent = (operation: string) => {
    const slots = (windows.get(operation) ?? []).filter(({ at }) => now() - at < settings.windowMs)
    windows.set(operation, slots)
    return slots
  }
  return {
    observe(operation, outcome) {
      if (opened.has(operation) || WEIGHTS[outcome] === 'nothing') return undefined
      const slots = recent(operation)
      const at = Math.floor(now() / slotMs) * slotMs
      const last = slots.at(-1)
      const slot = last?.at === at ? last : { at, clean: 0, error: 0, mismatch: 0 }
      if (slot !== last) slots.push(slot)
      slot[isDifference(outcome) ? 'mismatch' : outcome === 'error' ? 'error' : 'clean'] += 1
      const reason = excess(sum(slots), settings)
      if (reason === undefined) return undefined
      const state: CircuitState = { state: 'open', reason, openedAt: now() }
      opened.set(operation, state)
      return state
    },
    state: (operation) => opened.get(operation) ?? judge(sum(recent(operation)), settings),
    isOpen: (operation) => opened.has(operation),
    open: () => opened,
    reset(operation) {
      opened.delete(operation)
      windows.delete(operation)
    },
  }
}

type Counts = Omit<Slot, 'at'>

function sum(slots: readonly Slot[]): Counts {
  const total = { clean: 0, error: 0, mismatch: 0 }
  for (const { clean, error, mismatch } of slots) {
    total.clean += clean
    total.error += error
    total.mismatch += mismatch
  }
  return total
}

const RATES = [
  { count: 'error', bound: 'errors' },
  { count: 'mismatch', bound: 'mismatches' },
] as const

/**
 * Says why the window exceeds its limits. With little traffic, a few bad answers suffice if clean ones up to the minimum could not offset
 * them.
 */
function excess(counts: Counts, settings: CircuitSettings): string | undefined {
  const n = counts.clean + counts.error + counts.mismatch
  const rate = RATES.find(({ count, bound }) => counts[count] > settings[bound] * Math.max(n, settings.minimum))
  if (!rate) return undefined
  const share = `${counts[rate.count]} of ${n} answers in ${settings.windowMs / 1000} s`
  return `${rate.bound}: ${share}, more than the ${percent(settings[rate.bound])} that are allowed`
}

function judge(counts: Counts, { minimum, windowMs }: CircuitSettings): CircuitState {
  const n = counts.clean + counts.error + counts.mismatch
  const seen = `${n} answers in ${windowMs / 1000} s`
  if (n < minimum) return { state: 'inconclusive', reason: `INCONCLUSIVE: ${seen}, fewer than ${minimum}` }
  return { state: 'closed', reason: `${seen}, within the bounds` }
}
