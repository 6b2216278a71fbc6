import type { ExchangesState } from './exchanges.ts'

interface StoreLogParts {
  readonly warn: (members: object, text: string) => void
  readonly info: (members: object, text: string) => void
}

/** Returns a listener that writes a line when the store stops answering, and one when it answers again. */
export function createStoreLog({ warn, info }: StoreLogParts): (before: ExchangesState, after: ExchangesState) => void {
  return (before, after) => {
    if (before.problem === undefined && after.problem !== undefined) warn({ problem: after.problem }, WENT)
    if (before.problem === undefined || after.problem !== undefined) return
    const silentMs = Math.round((after.heardAt ?? 0) - (before.downSince ?? 0))
    info({ silentMs }, `the store answers again after ${(silentMs / 1000).toFixed(1)} s`)
  }
}

const WENT = 'the store does not answer: modes and circuits stay as they are here, changes of modes are refused, evidence waits'
