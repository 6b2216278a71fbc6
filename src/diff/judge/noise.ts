import type { Kind } from '../../tables/language/sign.ts'
import type { Finding } from '../compare/finding.ts'
import { rowOf, segmentsOf } from '../compare/json-path.ts'

export interface NoiseSettings {
  /** Double asks in which a member must have changed by itself before it is noise. */
  readonly changes: number
  /** … and their share of all double asks of the operation, 0–1. */
  readonly share: number
}

export const NOISE_SETTINGS: NoiseSettings = { changes: 3, share: 0.1 }

/** A member that v1 alone answers differently from one moment to the next. */
export interface NoisyMember {
  readonly operation: string
  readonly where: string
  readonly kind: Kind
  readonly changes: number
  readonly asks: number
}

export interface Noise {
  /** Learns from one read that v1 was asked twice: the findings of its second answer against its first (none = it stood still). */
  learn(operation: string, findings: readonly Finding[]): void
  /** Whether a finding is one of a learned member: noise in value, or in order, only. A change of type or presence always counts. */
  isNoise(operation: string, finding: Finding): boolean
  members(): readonly NoisyMember[]
}

/** Kinds in which a member may be noisy. */
const LEARNABLE: ReadonlySet<Kind> = new Set<Kind>(['value', 'order'])

/** Members that move whenever somebody writes (facts §19): what moves beside one of them did not move by itself. */
const STAMPS: ReadonlySet<string> = new Set(['updated_at', 'update_time', 'last_updated'])

/** Double asks after which old ones weigh half, so that a member that calmed down is unlearned. */
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

/** The places that changed without a write beside them, each once. */
function movedAlone(findings: readonly Finding[]): ReadonlySet<string> {
  const written = new Set(findings.filter(isStamp).map(({ path }) => rowOf(path)))
  return new Set(findings.filter((one) => LEARNABLE.has(one.kind) && !written.has(rowOf(one.path))).map(keyOf))
}

function isStamp({ where }: Finding): boolean {
  return STAMPS.has(segmentsOf(where).at(-1) ?? '')
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

function fromKey(key: string): { kind: Kind; where: string } {
  const space = key.indexOf(' ')
  return { kind: key.slice(0, space) as Kind, where: key.slice(space + 1) }
}
