import { useRef } from 'preact/hooks'
import type { OperationReport } from '../../report.ts'

/**
 * Returns the operations in the order in which they were shown, so that no row moves while somebody reads it: the report sorts by calls,
 * which change all the time. The order of the report applies again when an operation is new, or its standing has changed.
 */
export function useHeldOrder(operations: readonly OperationReport[]): readonly OperationReport[] {
  const held = useRef<readonly string[]>([])
  const known = useRef('')
  const standings = operations.map(({ operation, standing }) => `${operation} ${standing}`).sort()
  if (known.current !== standings.join()) {
    known.current = standings.join()
    held.current = operations.map(({ operation }) => operation)
  }
  return held.current.flatMap((name) => operations.find(({ operation }) => operation === name) ?? [])
}
