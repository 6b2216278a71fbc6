import { COLLAPSE } from '../../diff/evidence/collapse.ts'

export interface SamplerSettings {
  /** Maximum comparisons per second, and at once after a pause; 0 = unlimited. */
  readonly perSecond: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** A number from 0 up to 1 that no caller can foresee. */
  readonly random: () => number
}

/** A request that could be compared. */
export interface Candidate {
  readonly operation: string
  readonly caller: string
  /** Returns its shape; it is asked only if it matters. A write has none: each one is new. */
  readonly shape?: () => string
}

/** The number of requests that a chosen one stands for, or why it was not chosen. */
export type Sampled = { readonly weight: number } | 'perSecond' | 'repeat'

/** Spends the comparisons where they tell most (evidence §3). */
export interface Sampler {
  choose(candidate: Candidate): Sampled
}

/** How many times the unspent comparisons an operation may have taken in the last second. */
const SHARE = 4

/** Time in which the use of an operation fades, in milliseconds. */
const FADE = 1_000

/** One of this many known requests is compared while less than half of the comparisons are unspent. */
const EVERY = 20

/** A pair is new again a little later than its next observation may begin. */
const KNOWN_MS = COLLAPSE.windowMs * 1.05

export function createSampler({ perSecond, now, random }: SamplerSettings): Sampler {
  const stock = createStock(perSecond, now)
  const pairs = createPairs(now)
  return {
    choose({ operation, caller, shape }) {
      if (perSecond === 0) return { weight: 1 }
      if (!stock.has(operation, 0)) return 'perSecond'
      const pair = shape && `${operation}\n${caller}\n${shape()}`
      const isKnown = pair !== undefined && pairs.has(pair)
      const weight = isKnown && !stock.has(operation, perSecond / 2) ? EVERY : 1
      if (weight > 1 && random() * weight >= 1) return 'repeat'
      if (pair !== undefined && !isKnown) pairs.add(pair)
      stock.take(operation)
      return { weight }
    },
  }
}

/** The unspent comparisons, which operations share by the dynamic threshold of Choudhury and Hahne. */
function createStock(most: number, now: () => number) {
  const used = new Map<string, { readonly amount: number; readonly at: number }>()
  let left = most
  let filled = now()
  const fill = () => {
    const at = now()
    left = Math.min(most, left + ((at - filled) / 1_000) * most)
    filled = at
  }
  const usedBy = (operation: string) => {
    const { amount, at } = used.get(operation) ?? { amount: 0, at: filled }
    return amount * Math.exp((at - filled) / FADE)
  }
  return {
    /** True if the operation may take one and leave `reserve` to others. */
    has(operation: string, reserve: number): boolean {
      fill()
      return left - reserve >= Math.min(1, most - reserve) && SHARE * (left - reserve) > usedBy(operation)
    },
    take(operation: string) {
      used.set(operation, { amount: usedBy(operation) + 1, at: filled })
      left -= 1
    },
  }
}

/** The pairs that were compared lately. When the memory is full, all others count as known. */
function createPairs(now: () => number) {
  /** Oldest first. */
  const compared = new Map<string, number>()
  const forget = () => {
    for (const [pair, at] of compared) {
      if (now() - at < KNOWN_MS) return
      compared.delete(pair)
    }
  }
  return {
    has(pair: string): boolean {
      forget()
      return compared.has(pair) || compared.size >= COLLAPSE.entries
    },
    add: (pair: string) => void compared.set(pair, now()),
  }
}
