import type { Report } from '../../report.ts'

/** Returns what a reader must hear of a newer report: circuits that opened or closed, a verdict that turned, a restart. */
export function changesSaid(before: Report, after: Report): readonly string[] {
  const [old, young] = [before.now?.circuits ?? {}, after.now?.circuits ?? {}]
  const opened = Object.keys(young).filter((operation) => !(operation in old))
  const closed = Object.keys(old).filter((operation) => !(operation in young))
  return [
    ...(hasRestarted(before, after) ? ['The proxy restarted.'] : []),
    ...opened.map((operation) => `The circuit of ${operation} opened.`),
    ...closed.map((operation) => `The circuit of ${operation} is closed again.`),
    ...(before.ready === after.ready ? [] : [after.ready ? 'Ready to cut over.' : 'No longer ready to cut over.']),
  ]
}

/** True if another process made the newer report. What it did not read back is gone. */
export function hasRestarted(before: Report, after: Report): boolean {
  return before.now !== undefined && after.now !== undefined && before.now.startedAt !== after.now.startedAt
}
