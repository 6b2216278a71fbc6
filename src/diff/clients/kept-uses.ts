import type { Comparison, Total } from '../records/record.ts'
import type { RequestKind, SampledKind } from './request-kind.ts'

/** A difference in answers to one client. `code` says that it is declared. */
export type SeenDifference = Omit<Total, 'noise'>

type Growing<T, Key extends keyof T> = Omit<T, Key> & { -readonly [Name in Key]: T[Name] }

/** What is kept of one client at one operation, besides counts. There is one for each, so it is plain data. */
export interface KeptUse {
  readonly kinds: Growing<SampledKind, 'samples'>[]
  /** Requests of further kinds, among those that were looked at. */
  otherSamples: number
  readonly places: Growing<SeenDifference, 'count'>[]
}

export function emptyUse(): KeptUse {
  return { kinds: [], otherSamples: 0, places: [] }
}

/** Keeps kinds of requests and places of differences within one bound for all uses. */
export interface KeptUses {
  addKind(use: KeptUse, kind: RequestKind, samples: number): void
  addDifferences(use: KeptUse, comparison: Pick<Comparison, 'totals'>): void
}

/** Maximum kinds and places of one client at one operation, and of all together. Few clients make many kinds of requests. */
const MOST = { kinds: 8, places: 12, altogether: 20_000 }

export function createKeptUses(altogether: number = MOST.altogether): KeptUses {
  let room = altogether
  const takesRoom = () => {
    if (room === 0) return false
    room -= 1
    return true
  }
  return {
    addKind(use, kind, samples) {
      const known = use.kinds.find(({ shape }) => shape === kind.shape)
      if (known) known.samples += samples
      else if (use.kinds.length < MOST.kinds && takesRoom()) use.kinds.push({ ...kind, samples })
      else use.otherSamples += samples
    },
    addDifferences({ places }, { totals }) {
      for (const { kind, where, code, count, noise } of totals) {
        const known = places.find((place) => place.kind === kind && place.where === where && place.code === code)
        if (noise) continue
        if (known) known.count += count
        else if (places.length < MOST.places && takesRoom()) places.push({ kind, where, count, ...(code !== undefined && { code }) })
      }
    },
  }
}
