import type { Comparison, Total } from '../records/record.ts'
import type { RequestKind, SampledKind } from './request-kind.ts'

/** A difference in answers to one client. `code` says that it is declared. */
export type SeenDifference = Omit<Total, 'noise'>

/** What is kept of one client at one operation, besides counts. */
export interface KeptUse {
  kinds(): readonly SampledKind[]
  /** Requests of further kinds, among those that were looked at. */
  otherSamples(): number
  differences(): readonly SeenDifference[]
  addKind(kind: RequestKind, samples: number): void
  addDifferences(comparison: Pick<Comparison, 'totals'>): void
}

/** Maximum kinds and places of one client at one operation, and of all together. Few clients make many kinds of requests. */
const MOST = { kinds: 8, places: 12, altogether: 20_000 }

/** Creates what is kept for each use. All of them share one bound. */
export function createKeptUses(altogether: number = MOST.altogether): () => KeptUse {
  let room = altogether
  const takesRoom = () => {
    room -= 1
    return room >= 0
  }
  return () => createKeptUse(takesRoom)
}

function createKeptUse(takesRoom: () => boolean): KeptUse {
  const kinds: (RequestKind & { samples: number })[] = []
  const places: (SeenDifference & { count: number })[] = []
  let others = 0
  const addPlace = ({ kind, where, code, count }: Total) => {
    const known = places.find((place) => place.kind === kind && place.where === where && place.code === code)
    if (known) known.count += count
    else if (places.length < MOST.places && takesRoom()) places.push({ kind, where, count, ...(code !== undefined && { code }) })
  }
  return {
    kinds: () => kinds.toSorted((a, b) => b.samples - a.samples),
    otherSamples: () => others,
    differences: () => places.toSorted((a, b) => b.count - a.count),
    addKind(kind, samples) {
      const known = kinds.find(({ shape }) => shape === kind.shape)
      if (known) known.samples += samples
      else if (kinds.length < MOST.kinds && takesRoom()) kinds.push({ ...kind, samples })
      else others += samples
    },
    addDifferences: ({ totals }) => {
      for (const total of totals) if (!total.noise) addPlace(total)
    },
  }
}
