import { type Differ, type DifferSettings, startDiffer } from './differ.ts'

export const COMPARING = ['diff-v1', 'diff-v2'] as const
export type Comparing = (typeof COMPARING)[number]

/** A Crosswalk for each mode in front of one sandbox. */
export interface EachMode {
  /** Crosswalk without v1: what clients would see. */
  readonly oracle: Differ
  readonly comparing: Readonly<Record<Comparing, Differ>>
  /** Closes all of them, and the sandbox. */
  close(): Promise<void>
}

export async function startEachMode(options: Omit<DifferSettings, 'mode'>): Promise<EachMode> {
  const oracle = await startDiffer({ ...options, mode: 'v2' })
  const comparing = {
    'diff-v1': await startDiffer({ ...options, mode: 'diff-v1' }),
    'diff-v2': await startDiffer({ ...options, mode: 'diff-v2' }),
  }
  return {
    oracle,
    comparing,
    async close() {
      await Promise.all([oracle, ...Object.values(comparing)].map((differ) => differ.close()))
      await options.sandbox.close()
    },
  }
}
