import type { Report } from '../../report.ts'
import { unwellIn } from '../now/troubles.ts'

/** Returns what a reader must hear of a newer report: circuits that opened or closed, a verdict that turned, a restart. */
export function changesSaid(before: Report, after: Report): readonly string[] {
  const [old, young] = [before.now?.circuits ?? {}, after.now?.circuits ?? {}]
  const opened = Object.keys(young).filter((operation) => !(operation in old))
  const closed = Object.keys(old).filter((operation) => !(operation in young))
  return [
    ...(hasRestarted(before, after) ? ['The proxy restarted.'] : []),
    ...opened.map((operation) => `The circuit of ${operation} opened.`),
    ...closed.map((operation) => `The circuit of ${operation} is closed again.`),
    ...fleetSaid(before, after),
    ...(before.ready === after.ready ? [] : [after.ready ? 'Ready to cut over.' : 'No longer ready to cut over.']),
  ]
}

function fleetSaid({ fleet: old }: Report, { fleet: young }: Report): readonly string[] {
  const [before, after] = [old, young].map((fleet) => (fleet ? unwellIn(fleet) : []))
  const isNew = (after ?? []).filter((id) => !before?.includes(id))
  return [
    ...isNew.map((id) => `Replica ${id} is not well.`),
    ...((after ?? []).length === 0 && (before ?? []).length > 0 ? ['All replicas are well again.'] : []),
  ]
}

/** True if another process made the newer report. What it did not read back is gone. */
export function hasRestarted(before: Report, after: Report): boolean {
  return before.now !== undefined && after.now !== undefined && before.now.startedAt !== after.now.startedAt
}
