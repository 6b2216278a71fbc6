import { COLLAPSE } from '../../diff/evidence/collapse.ts'
import type { Stock } from './queue.ts'

export interface SamplerSettings {
  /** Maximum comparisons per second, and at once after a pause; 0 = unlimited. */
  readonly perSecond: () => number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** A number from 0 up to 1 that no caller can foresee. */
  readonly random: () => number
}

/** A request that could be compared. */
export interface Candidate {
  /** The operation and the side that answered (`Stock`). */
  readonly user: string
  readonly caller: string
  /** Returns its shape; it is asked only if it matters. A write has none: each one is new. */
  readonly shape?: () => string
}

/** The number of requests that a chosen one stands for, or why it was not chosen. */
export type Sampled = { readonly weight: number } | 'perSecond' | 'waiting' | 'repeat'

/** Spends the comparisons where they tell most (evidence §3). */
export interface Sampler {
  /** Why no request of a user can be compared now; undefined if one can. */
  full(user: string): 'perSecond' | 'waiting' | undefined
  choose(candidate: Candidate): Sampled
  /** Spends further comparisons of the rate on the bytes of answers that a user had compared. */
  charge(user: string, bytes: number): void
}

/** How many times what is left of a stock one user may use of it: the dynamic threshold of Choudhury and Hahne. */
const SHARE = 4

/** One of this many known requests is compared while less than half of a stock is left. */
const EVERY = 20

/** Bytes of answers that one comparison of the rate pays for. Memory for many of them makes V8 collect all the time, which clients notice. */
const BYTES = 65_536

/** A pair is new again a little later than its next observation may begin. */
const KNOWN_MS = COLLAPSE.windowMs * 1.05

/** `places` are those of the comparisons that wait. */
export function createSampler({ perSecond, now, random }: SamplerSettings, places: Stock): Sampler {
  const rate = createRate(perSecond, now)
  const pairs = createPairs(now)
  const hasPlace = (user: string, part: number) => fits(places, user, part)
  const hasRate = (user: string, part: number) => perSecond() === 0 || fits(rate, user, part)
  const full = (user: string) => {
    if (!hasPlace(user, 0)) return 'waiting'
    return hasRate(user, 0) ? undefined : 'perSecond'
  }
  return {
    full,
    choose({ user, caller, shape }) {
      const why = full(user)
      if (why) return why
      const pair = shape && `${user}\n${caller}\n${shape()}`
      const isKnown = pair !== undefined && pairs.has(pair)
      const weight = isKnown && !(hasPlace(user, 0.5) && hasRate(user, 0.5)) ? EVERY : 1
      if (weight > 1 && random() * weight >= 1) return 'repeat'
      if (pair !== undefined && !isKnown) pairs.add(pair)
      rate.take(user, 1)
      return { weight }
    },
    charge: (user, bytes) => rate.take(user, Math.floor(bytes / BYTES)),
  }
}

/** True if the user may use one more and leave this part of the stock, 0–1, to others. */
function fits(stock: Stock, user: string, part: number): boolean {
  const left = stock.left() - part * stock.most
  return left >= Math.min(1, (1 - part) * stock.most) && SHARE * left > stock.usedBy(user)
}

/** Time in which the use of a user fades, in milliseconds. */
const FADE = 1_000

/** The comparisons of a second that are not spent yet. */
function createRate(perSecond: () => number, now: () => number): Stock & { take(user: string, amount: number): void } {
  const used = new Map<string, { readonly amount: number; readonly at: number }>()
  let left = perSecond()
  let filled = now()
  const usedBy = (user: string) => {
    const { amount, at } = used.get(user) ?? { amount: 0, at: filled }
    return amount * Math.exp((at - filled) / FADE)
  }
  return {
    get most() {
      return perSecond()
    },
    left() {
      const at = now()
      const most = perSecond()
      left = Math.min(most, left + ((at - filled) / 1_000) * most)
      filled = at
      return left
    },
    usedBy,
    take(user, amount) {
      if (perSecond() === 0) return
      used.set(user, { amount: usedBy(user) + amount, at: filled })
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
