/** Says which service answers a v1 operation, and whether the other one is asked too, to compare (design §7). */
export const MODES = ['v1', 'v2', 'diff-v1', 'diff-v2'] as const

export type Mode = (typeof MODES)[number]

/** The source of an answer in v1 space: the v1 service itself, or the tables over v2. */
export type Side = 'v1' | 'v2'

/** The side that answers the client. */
export const SERVED_BY: Readonly<Record<Mode, Side>> = { v1: 'v1', 'diff-v1': 'v1', v2: 'v2', 'diff-v2': 'v2' }

/** Modes in which the other side is asked too. */
export const COMPARING: ReadonlySet<Mode> = new Set<Mode>(['diff-v1', 'diff-v2'])

/** The same mode with v1 answering the client. */
export const BY_V1: Readonly<Record<Mode, Mode>> = { v1: 'v1', 'diff-v1': 'diff-v1', v2: 'v1', 'diff-v2': 'diff-v1' }

export function isMode(text: unknown): text is Mode {
  return (MODES as readonly unknown[]).includes(text)
}

export const otherSide = (side: Side): Side => (side === 'v1' ? 'v2' : 'v1')
