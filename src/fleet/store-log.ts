import type { ExchangesState } from './exchanges.ts'

interface StoreLogParts {
  readonly warn: (members: object, text: string) => void
  readonly info: (members: object, text: string) => void
}

/** Returns a listener that writes a line when the store stops answering, and one when it answers again. */
export function createStoreLog({ warn, info }: StoreLogParts): (before: ExchangesState, after: ExchangesState) => void {
  return (before, after) => {
    if (after.problem !== undefined && (before.problem === undefined || before.foreignKey !== after.foreignKey))
      warn({ problem: after.problem }, wentOf(after))
    if (before.problem === undefined || after.problem !== undefined) return
    const silentMs = Math.round((after.heardAt ?? 0) - (before.downSince ?? 0))
    info({ silentMs }, `the store answers again after ${(silentMs / 1000).toFixed(1)} s`)
  }
}

function wentOf({ foreignKey }: ExchangesState): string {
  const why = foreignKey === undefined ? 'does not answer' : `takes nothing, because somebody else wrote the key ${foreignKey}`
  return `the store ${why}: modes and circuits stay as they are here, changes of modes are refused, evidence waits`
}
