import { suggestion } from '../tables/check.ts'
import { covers } from '../tables/operation.ts'
import type { Acknowledged } from '../tables/tables.ts'
import type { Point } from './point.ts'

/** Returns the points with what the tables acknowledge, and a sentence for each acknowledgement that no longer applies. */
export function acknowledge(
  points: readonly Point[],
  rows: readonly Acknowledged[],
): { readonly points: readonly Point[]; readonly problems: readonly string[] } {
  const pairs = rows.flatMap((row) => placesIn(row).map((place) => ({ row, place, fitting: [] as Point[] })))
  const [patterns, plain] = [pairs.filter(({ place }) => place.includes('*')), pairs.filter(({ place }) => !place.includes('*'))]
  const byPlace = new Map(plain.map(({ place }): [string, typeof pairs] => [place, []]))
  for (const pair of plain) byPlace.get(pair.place)?.push(pair)
  const after = points.map((point): Point => {
    const found = [...(byPlace.get(point.at) ?? []), ...patterns].filter(({ row, place }) => fits(row, place, point))
    for (const { fitting } of found) fitting.push(point)
    const [first] = found
    return first && point.state === 'lacking' ? { ...point, state: 'acknowledged', why: first.row.reason } : point
  })
  return { points: after, problems: pairs.flatMap(({ row, place, fitting }) => whyStale(row, place, fitting, points)) }
}

/** `v2 Project.etag`, `v1 Lien.name in requests`: what a row acknowledges, for people. */
export function nameOf(row: Acknowledged): string {
  return `${sideOf(row)} ${placesIn(row).join(', ')}${row.in === undefined ? '' : ` in ${row.in}s`}`
}

/** The version that has what a row acknowledges. */
function sideOf(row: Acknowledged): 'v1' | 'v2' {
  return row.v1 === undefined ? 'v2' : 'v1'
}

function placesIn({ v1, v2 }: Acknowledged): readonly string[] {
  return [v1 ?? v2 ?? []].flat()
}

function fits(row: Acknowledged, place: string, { side, part, at }: Point): boolean {
  return side === sideOf(row) && (row.in === undefined || row.in === part) && covers(place, at)
}

function whyStale(row: Acknowledged, place: string, fitting: readonly Point[], points: readonly Point[]): readonly string[] {
  if (fitting.some(({ state }) => state === 'lacking')) return []
  const side = sideOf(row)
  const what = `acknowledged ${side} ${place}${row.in === undefined ? '' : ` in ${row.in}s`}`
  if (fitting.length > 0) return [`${what} no longer applies: the tables cover it; remove the row`]
  const known = points.flatMap((point) => (point.side === side ? point.at : []))
  return [`${what} no longer applies: ${side} has no such place; ${suggestion(place, known, 'remove the row')}`]
}
