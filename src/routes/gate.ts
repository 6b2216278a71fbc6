import { type Classify, createClassify } from '../request/classify.ts'
import type { Mapping } from '../tables/operation.ts'
import { createLoopGuard, type LoopGuard } from '../upstream/loop.ts'

/** Examines a request before any carrier gets it. */
export interface Gate {
  readonly loop: LoopGuard
  readonly classify: Classify
  /** True if v2 lives below a path of its server. */
  readonly isBelow: boolean
}

/** `v2` is the base address of the v2 service. */
export function createGate(mappings: readonly Mapping[], v2: string): Gate {
  const isBelow = new URL(v2).pathname !== '/'
  return { loop: createLoopGuard(), classify: createClassify(mappings, isBelow), isBelow }
}
