import type { Operation } from '../../src/tables/operation.ts'
import { type Param, rowsOf } from '../../src/tables/query.ts'
import { type Mutant, overwrite } from './mutant.ts'

/** Every fault of every query row. Lists that share one table of filters share its faults. */
export function queryMutants(operations: readonly Operation[]): readonly Mutant[] {
  return [...new Set(operations.map(({ params }) => params))].flatMap((params) => {
    const users = operations.filter((operation) => operation.params === params).map(({ id }) => id)
    const rows = rowsOf(params)
    return rows.flatMap(([name, row], at) =>
      faultsOf(row).map(([what, param]) => ({
        name: `${users[0]}?${name}: ${what}`,
        operations: users,
        apply: () => overwrite(rows, rows.with(at, [name, param])),
      })),
    )
  })
}

function faultsOf(row: Param): readonly (readonly [what: string, row: Param])[] {
  const { negate, v1Only, many, of, zeroIsNone, ...plain } = row
  return [
    ...(row.v2 === '' ? [] : [['renamed', { ...row, v2: `${row.v2}_renamed` }] as const]),
    ...(negate ? [['negation dropped', { ...plain }] as const] : []),
    ...(v1Only ? [['refusal dropped', { ...plain }] as const] : []),
    ...(zeroIsNone ? [['zero sent', { ...plain, ...(of && { of }), ...(many && { many }) }] as const] : []),
    ...(many ? [['given once', { ...row, many: false }] as const] : []),
    // A turned row or one of v1 alone reads its flag itself, whatever its kind.
    ...(row.kind === 'text' || negate || v1Only ? [] : [['read as text', { ...row, kind: 'text' as const }] as const]),
  ]
}
