import type { Logger } from 'pino'
import { createStoreLog } from '../../fleet/exchange.ts'
import { createFleet, type Fleet, type FleetSettings } from '../../fleet/fleet.ts'

/** Calls a listener after each exchange with the store: whether it was answered, and the seconds that it took. */
export type OnExchange = (listener: (isAnswered: boolean, seconds: number) => void) => void

/** Creates a fleet that tells the log when the store goes and comes, and the metrics how long it takes. */
export function createToldFleet(
  settings: Omit<FleetSettings, 'ended'>,
  log: Logger,
): { readonly fleet: Fleet; readonly onExchange: OnExchange } {
  const listeners: Parameters<OnExchange>[0][] = []
  const tell = createStoreLog({ warn: log.warn.bind(log), info: log.info.bind(log) })
  const fleet = createFleet({
    ...settings,
    ended(before, after, seconds) {
      tell(before, after)
      for (const listener of listeners) listener(after.problem === undefined, seconds)
    },
  })
  return { fleet, onExchange: (listener) => void listeners.push(listener) }
}
