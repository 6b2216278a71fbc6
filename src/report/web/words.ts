import type { Standing } from '../../migrate/evidence/cutover.ts'
import type { Difference, DifferenceState } from '../difference.ts'

/** Describes each standing in one word, with its meaning. */
export const STANDINGS: Readonly<Record<Standing, { readonly word: string; readonly meaning: string }>> = {
  inside: { word: 'Inside', meaning: 'At 95 %, fewer answers than the target are wrong.' },
  outside: { word: 'Outside', meaning: 'More answers than the target were wrong.' },
  inconclusive: { word: 'Inconclusive', meaning: 'Too little is known: never a pass.' },
  'v1-only': { word: 'v1 only', meaning: 'v2 has no counterpart: it stays with v1.' },
  unverifiable: { word: 'Unverifiable', meaning: 'A write that no read can show: no evidence is possible.' },
}

export const STATES: Readonly<Record<DifferenceState, { readonly word: string; readonly meaning: string }>> = {
  unexplained: { word: 'Unexplained', meaning: 'Nothing declares it: it counts as a mismatch.' },
  transient: { word: 'Transient', meaning: 'It was gone when v2 was asked again, and nothing explains it: it counts as wrong.' },
  failed: { word: 'Failed', meaning: 'v2 gave an error where v1 did not: it counts as wrong.' },
  open: { word: 'Open', meaning: 'The answers could not be compared: it counts as nothing.' },
  race: { word: 'Race', meaning: 'v1 itself changed while the two were asked: it counts as nothing.' },
  noise: { word: 'Noise', meaning: 'A member that changes by itself on v1 alone.' },
  declared: { word: 'Declared', meaning: 'A known difference, with its code.' },
}

export const KINDS: Readonly<Record<Difference['kind'], string>> = {
  status: 'The HTTP statuses differ.',
  missing: 'v1 has it, v2 does not.',
  extra: 'v2 has it, v1 does not.',
  type: 'Both have it, of another JSON type.',
  value: 'Both have it, with another value.',
  order: 'The same rows, in another order.',
  error: 'v2 failed.',
  race: 'v1 moved.',
  inconclusive: 'It could not be compared.',
}

/** Names the place of a difference. The root of an answer has no name of its own. */
export function placeOf({ where, kind }: Pick<Difference, 'where' | 'kind'>): string {
  if (where !== '') return where
  return kind === 'status' ? 'status' : 'the whole answer'
}

export const STANDING_ORDER: readonly Standing[] = ['outside', 'inconclusive', 'v1-only', 'unverifiable', 'inside']
