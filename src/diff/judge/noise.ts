import type { DifferenceKind } from '../../tables/language/sign.ts'
import type { Finding } from '../compare/finding.ts'
import { rowOf, segmentsOf } from '../compare/json-path.ts'
import { UPDATE_STAMPS } from './stamps.ts'

export interface NoiseSettings {
  /** Double reads in which a member must have changed by itself before it counts as noise. */
  readonly changes: number
  /** … and their share of all double reads of the operation, 0–1. */
  readonly share: number
}

export const NOISE_SETTINGS: NoiseSettings = { changes: 3, share: 0.1 }

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
  /** True for a finding about a volatile member, if it is a change of value or order. A change of type or presence always counts. */
  isNoise(operation: string, finding: Finding): boolean
  members(): readonly NoisyMember[]
}

/** Kinds of difference that can be noise. */
const LEARNABLE: ReadonlySet<DifferenceKind> = new Set<DifferenceKind>(['value', 'order'])

/** Double reads after which old ones count half, so that a member can become stable again. */
const MEMORY = 1_000

interface Learned {
  asks: number
  readonly changes: Map<string, number>
}

export function createNoise({ changes, share }: NoiseSettings = NOISE_SETTINGS): Noise {
  const operations = new Map<string, Learned>()
  const isNoisy = ({ asks }: Learned, count: number) => count >= changes && count >= share * asks
  return {
    learn(operation, findings) {
      const learned = operations.get(operation) ?? { asks: 0, changes: new Map<string, number>() }
      operations.set(operation, learned)
      learned.asks += 1
      for (const key of movedAlone(findings)) learned.changes.set(key, (learned.changes.get(key) ?? 0) + 1)
      if (learned.asks >= MEMORY) fade(learned)
    },
    isNoise(operation, finding) {
      const learned = operations.get(operation)
      return learned !== undefined && LEARNABLE.has(finding.kind) && isNoisy(learned, learned.changes.get(keyOf(finding)) ?? 0)
    },
    members: () =>
      [...operations].flatMap(([operation, learned]) =>
        [...learned.changes]
          .filter(([, count]) => isNoisy(learned, count))
          .map(([key, count]) => ({ operation, ...fromKey(key), changes: count, asks: learned.asks })),
      ),
  }
}

/** Returns each place that changed without a write, once. */
function movedAlone(findings: readonly Finding[]): ReadonlySet<string> {
  const written = new Set(findings.filter(isStamp).map(({ path }) => rowOf(path)))
  return new Set(findings.filter((one) => LEARNABLE.has(one.kind) && !written.has(rowOf(one.path))).map(keyOf))
}

/** A member that changes together with a time of writing did not change by itself. */
function isStamp({ where }: Finding): boolean {
  return UPDATE_STAMPS.has(segmentsOf(where).at(-1) ?? '')
}

function fade(learned: Learned): void {
  learned.asks /= 2
  for (const [key, count] of learned.changes) {
    if (count < 1) learned.changes.delete(key)
    else learned.changes.set(key, count / 2)
  }
}

function keyOf({ kind, where }: Finding): string {
  return `${kind} ${where}`
}

function fromKey(key: string): { kind: DifferenceKind; where: string } {
  const space = key.indexOf(' ')
  return { kind: key.slice(0, space) as DifferenceKind, where: key.slice(space + 1) }
}
