import { COLLAPSE } from '../../diff/evidence/collapse.ts'
import type { Stock } from './queue.ts'

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
export type Sampled = { readonly weight: number } | 'perSecond' | 'waiting' | 'repeat'

/** Spends the comparisons where they tell most (evidence §3). */
export interface Sampler {
  choose(candidate: Candidate): Sampled
  /** Spends further comparisons of the rate on the bytes of answers that an operation had compared. */
  charge(operation: string, bytes: number): void
}

/** How many times what is left of a stock one operation may use of it: the dynamic threshold of Choudhury and Hahne. */
const SHARE = 4

/** One of this many known requests is compared while less than half of a stock is left. */
const EVERY = 20

/** Bytes of answers that one comparison of the rate pays for. Memory for many of them makes V8 collect all the time, which clients notice. */
const BYTES = 65_536

/** A pair is new again a little later than its next observation may begin. */
const KNOWN_MS = COLLAPSE.windowMs * 1.05

/** `places` are those of the comparisons that wait. */
export function createSampler({ perSecond, now, random }: SamplerSettings, places: Stock): Sampler {
  const rate = perSecond > 0 ? createRate(perSecond, now) : undefined
  const pairs = createPairs(now)
  const hasPlace = (operation: string, part: number) => fits(places, operation, part)
  const hasRate = (operation: string, part: number) => rate === undefined || fits(rate, operation, part)
  return {
    choose({ operation, caller, shape }) {
      if (!hasPlace(operation, 0)) return 'waiting'
      if (!hasRate(operation, 0)) return 'perSecond'
      const pair = shape && `${operation}\n${caller}\n${shape()}`
      const isKnown = pair !== undefined && pairs.has(pair)
      const weight = isKnown && !(hasPlace(operation, 0.5) && hasRate(operation, 0.5)) ? EVERY : 1
      if (weight > 1 && random() * weight >= 1) return 'repeat'
      if (pair !== undefined && !isKnown) pairs.add(pair)
      rate?.take(operation, 1)
      return { weight }
    },
    charge: (operation, bytes) => rate?.take(operation, Math.floor(bytes / BYTES)),
  }
}

/** True if the operation may use one more and leave this part of the stock, 0–1, to others. */
function fits(stock: Stock, operation: string, part: number): boolean {
  const left = stock.left() - part * stock.most
  return left >= Math.min(1, (1 - part) * stock.most) && SHARE * left > stock.usedBy(operation)
}

/** Time in which the use of an operation fades, in milliseconds. */
const FADE = 1_000

/** The comparisons of a second that are not spent yet. */
function createRate(most: number, now: () => number): Stock & { take(operation: string, amount: number): void } {
  const used = new Map<string, { readonly amount: number; readonly at: number }>()
  let left = most
  let filled = now()
  const usedBy = (operation: string) => {
    const { amount, at } = used.get(operation) ?? { amount: 0, at: filled }
    return amount * Math.exp((at - filled) / FADE)
  }
  return {
    most,
    left() {
      const at = now()
      left = Math.min(most, left + ((at - filled) / 1_000) * most)
      filled = at
      return left
    },
    usedBy,
    take(operation, amount) {
      used.set(operation, { amount: usedBy(operation) + amount, at: filled })
      left -= amount
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
