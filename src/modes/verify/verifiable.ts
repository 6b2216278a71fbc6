import { isRead } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import { isReadBack } from '../../tables/operations.ts'

interface VerifySettings {
  readonly operations: readonly Operation[]
  /** Writes are read back where their tables say how. */
  readonly verifyWrites: boolean
}

/** The operations that v2 has, and whether comparisons can judge them: reads, and writes that are read back. */
export function verifiable({ operations, verifyWrites }: VerifySettings) {
  const judged = operations.filter((one) => isRead(one) || (verifyWrites && one.readBack !== undefined && isReadBack(one.readBack)))
  const ids = new Set(judged.map(({ id }) => id))
  const shared = operations.filter(({ kind }) => kind !== 'v1-only')
  return { operations: shared.map(({ id }) => id), canBeJudged: (operation: string) => ids.has(operation) }
}
