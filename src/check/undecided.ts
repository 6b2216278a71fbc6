import type { Fields } from '../tables/fields.ts'
import type { Operation } from '../tables/operation.ts'
import { isReadBack } from '../tables/operations.ts'
import { asParam } from '../tables/query.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import { nameOf } from './acknowledge.ts'
import { routeOf } from './served-operation.ts'

/** Begins the reason of everything that a person must decide. */
export const TO_DECIDE = 'TO DECIDE'

/** Returns a sentence for each reason that is empty or waits for a person. */
export function undecidedIn(tables: Tables): readonly string[] {
  const reasons = [
    ...operationsOf(tables).flatMap(reasonsOf),
    ...tables.differences.map(({ code, because }) => [`difference ${code}`, because] as const),
    ...(tables.acknowledged ?? []).map((row) => [nameOf(row), row.reason] as const),
  ]
  const open = reasons.filter(([, reason]) => isOpen(reason))
  return [...new Set(open.map(([where, reason]) => `${where}: ${reason.replace(/^TO DECIDE:?\s*/, '').trim() || 'no reason is given'}`))]
}

/** True if a reason is empty or waits for a person. */
export function isOpen(reason: string): boolean {
  return reason.trim() === '' || reason.startsWith(TO_DECIDE)
}

type Reason = readonly [where: string, reason: string]

function reasonsOf(operation: Operation): readonly Reason[] {
  const { because, readBack, params, mask, request, answer } = operation
  const route = routeOf(operation)
  return [
    ...(because === undefined ? [] : [[route, because] as const]),
    ...Object.entries(params).flatMap(([name, row]): Reason[] => {
      const { v1Only } = asParam(row)
      return v1Only === undefined ? [] : [[`${route}?${name}`, v1Only]]
    }),
    ...(readBack && !isReadBack(readBack) ? [[route, readBack.unverifiable] as const] : []),
    ...(mask && mask !== '*' ? [[`${route} mask`, mask.because] as const] : []),
    ...[request, answer].flatMap((message) => (message ? lossesIn(message.name, message.fields) : [])),
  ]
}

function lossesIn(where: string, fields: Fields): readonly Reason[] {
  return Object.entries(fields).flatMap(([name, { lossy, type }]): Reason[] => {
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    const below = inner.kind === 'object' ? lossesIn(`${where}.${name}`, inner.fields) : []
    return lossy === undefined ? [...below] : [[`${where}.${name}`, lossy], ...below]
  })
}
