import { nameOf } from '../check/acknowledge.ts'
import { coverageOf } from '../check/coverage.ts'
import type { Point } from '../check/point.ts'
import { TO_DECIDE } from '../check/undecided.ts'
import type { Contract } from '../contract/public-contract.ts'
import type { Acknowledged } from '../tables/tables.ts'
import { draftedOperations } from './drafted-operations.ts'
import type { OperationPair } from './pair-operations.ts'
import { quoted } from './write-members.ts'

/** Returns a row for everything that a draft of these pairs does not cover. Its reason waits for a person. */
export function lossesOf(v1: Contract, v2: Contract, pairs: readonly OperationPair[]): readonly Acknowledged[] {
  const known = reasonsIn(pairs)
  const { points } = coverageOf(draftedOperations(pairs), { v1, v2 })
  const lacking = points.filter(({ state }) => state === 'lacking')
  const times = new Map<string, number>()
  for (const { side, at } of lacking) times.set(`${side} ${at}`, (times.get(`${side} ${at}`) ?? 0) + 1)
  return lacking.map(({ side, at, part, why }): Acknowledged => {
    const reason = `${TO_DECIDE}: ${(side === 'v1' && known.get(at)) || why}`
    const isTwice = (times.get(`${side} ${at}`) ?? 0) > 1
    const where = isTwice && isBody(part) ? { in: part } : {}
    return side === 'v1' ? { v1: at, ...where, reason } : { v2: at, ...where, reason }
  })
}

function isBody(part: Point['part']): part is 'request' | 'answer' {
  return part === 'request' || part === 'answer'
}

/** Why a parameter of v1 has no place. */
function reasonsIn(pairs: readonly OperationPair[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.flatMap((pair) =>
      pair.v2 === undefined
        ? []
        : Object.entries(pair.query).map(([name, { because }]) => [`${pair.v1.method} ${pair.v1.path}?${name}`, because] as const),
    ),
  )
}

/** `  { v2: 'Project.etag', reason: 'TO DECIDE: no row shows it' },` */
export function lossText(loss: Acknowledged): string {
  const members = Object.entries(loss).map(([name, value]) => `${name}: ${quoted(String(value))}`)
  return `  { ${members.join(', ')} },\n`
}

/** The same for the list at the top of a draft. */
export function decisionOf(loss: Acknowledged): string {
  return `${nameOf(loss)}: ${loss.reason.slice(TO_DECIDE.length + 2)}`
}
