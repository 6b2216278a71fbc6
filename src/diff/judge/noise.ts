import type { DifferenceKind } from '../../tables/signs.ts'
import type { Finding } from '../compare/finding.ts'
import { rowOf, segmentsOf } from '../compare/json-path.ts'
import { UPDATE_STAMPS } from './stamps.ts'

export interface NoiseSettings {
  /** Double reads in which a member must have changed by itself before it counts as noise. */
  readonly changes: number
  /** … and their share of the latest double reads of the operation, 0–1. */
  readonly share: number
}

export const NOISE_SETTINGS: NoiseSettings = { changes: 3, share: 0.1 }

/** The same for a member that changes together with its row's time of writing. Only what nearly always moves is no write. */
const STAMPED: NoiseSettings = { changes: 10, share: 0.9 }

/** Latest double reads of an operation that are remembered. A member that stops changing is stable again after so many. */
const MEMORY = 50

/** A member whose value changes between two reads of v1 alone. */
export interface NoisyMember {
  readonly operation: string
  readonly where: string
  readonly kind: DifferenceKind
  readonly changes: number
  readonly asks: number
}

export interface Noise {
  /** Learns from two reads of v1: `findings` are the differences of the second from the first (none if nothing changed). */
  learn(operation: string, findings: readonly Finding[]): void
  /** Learns what another replica learnt from two reads. */
  heard(operation: string, places: ChangedPlaces): void
  /** Tells a listener what `learn` learns. */
  onLearn(listener: (operation: string, places: ChangedPlaces) => void): void
  /** True for a finding about a volatile member, if it is a change of value or order. A change of type or presence always counts. */
  isNoise(operation: string, finding: Finding): boolean
  members(): readonly NoisyMember[]
}

/** The places that changed between two reads of v1, each once: alone, or together with a time of writing. */
export interface ChangedPlaces {
  readonly alone: readonly string[]
  readonly stamped: readonly string[]
}

/** Kinds of difference that can be noise. */
const LEARNABLE: ReadonlySet<DifferenceKind> = new Set<DifferenceKind>(['value', 'order'])

/** The double reads, by number, in which members changed: alone, or together with a time of writing. */
interface Learned {
  asks: number
  readonly alone: Map<string, readonly number[]>
  readonly stamped: Map<string, readonly number[]>
}

export function createNoise(settings: NoiseSettings = NOISE_SETTINGS): Noise {
  const operations = new Map<string, Learned>()
  const listeners: Parameters<Noise['onLearn']>[0][] = []
  const heard: Noise['heard'] = (operation, { alone, stamped }) => {
    const learned = operations.get(operation) ?? { asks: 0, alone: new Map(), stamped: new Map() }
    operations.set(operation, learned)
    learned.asks += 1
    remember(learned.alone, alone, learned.asks)
    remember(learned.stamped, stamped, learned.asks)
  }
  return {
    learn(operation, findings) {
      const places = placesOf(findings)
      heard(operation, places)
      for (const listener of listeners) listener(operation, places)
    },
    heard,
    onLearn: (listener) => void listeners.push(listener),
    isNoise(operation, finding) {
      const learned = operations.get(operation)
      return learned !== undefined && LEARNABLE.has(finding.kind) && changesOf(learned, keyOf(finding), settings) > 0
    },
    members: () =>
      [...operations].flatMap(([operation, learned]) =>
        [...new Set([...learned.alone.keys(), ...learned.stamped.keys()])]
          .map((key) => ({ operation, ...fromKey(key), changes: changesOf(learned, key, settings), asks: Math.min(learned.asks, MEMORY) }))
          .filter(({ changes }) => changes > 0),
      ),
  }
}

/** Returns the number of changes that make a member volatile; 0 if it is stable. */
function changesOf({ asks, alone, stamped }: Learned, key: string, settings: NoiseSettings): number {
  const isEnough = (count: number, { changes, share }: NoiseSettings) => count >= changes && count >= share * Math.min(asks, MEMORY)
  const [byItself, together] = [alone.get(key)?.length ?? 0, stamped.get(key)?.length ?? 0]
  if (isEnough(byItself, settings)) return byItself
  return isEnough(together, STAMPED) ? together : 0
}

/** Adds the number of a double read to the places that changed, and forgets old ones. */
function remember(known: Map<string, readonly number[]>, changed: readonly string[], ask: number): void {
  for (const key of changed) known.set(key, [...(known.get(key) ?? []), ask])
  for (const [key, asks] of known) {
    const recent = asks.filter((one) => one > ask - MEMORY)
    if (recent.length === 0) known.delete(key)
    else known.set(key, recent)
  }
}

/** A member that changes together with a time of writing may have been written. */
function placesOf(findings: readonly Finding[]): ChangedPlaces {
  const written = new Set(findings.filter(isStamp).map(({ path }) => rowOf(path)))
  const learnable = findings.filter(({ kind }) => LEARNABLE.has(kind))
  const isWritten = ({ path }: Finding) => written.has(rowOf(path))
  return {
    alone: [...new Set(learnable.filter((one) => !isWritten(one)).map(keyOf))],
    stamped: [...new Set(learnable.filter(isWritten).map(keyOf))],
  }
}

function isStamp({ where }: Finding): boolean {
  return UPDATE_STAMPS.has(segmentsOf(where).at(-1) ?? '')
}

function keyOf({ kind, where }: Finding): string {
  return `${kind} ${where}`
}

function fromKey(key: string): { kind: DifferenceKind; where: string } {
  const space = key.indexOf(' ')
  return { kind: key.slice(0, space) as DifferenceKind, where: key.slice(space + 1) }
}
