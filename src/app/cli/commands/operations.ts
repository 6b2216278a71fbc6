import { many } from '../../../migrate/evidence/evidence.ts'
import type { OperationKind } from '../../../tables/operation.ts'
import { describeOperations, type OperationRow } from '../../../tools/explore.ts'
import { type Command, print, textOf } from '../command.ts'
import { checkPattern, fitsOperation, tablesFlag } from '../flags.ts'

const KINDS: readonly OperationKind[] = ['direct', 'composed', 'emulated', 'v1-only']

/** Lists the operations and how each is served. */
export const operations: Command = {
  usage: 'operations [PATTERN]',
  summary:
    'Lists v1 operations with their kind, their v2 calls and the codes of their differences: all, or those that a pattern such as iam, iam.groups.* or *.list fits.',
  optional: ['PATTERN'],
  flags: {
    ...tablesFlag,
    kind: { help: 'Only operations of this kind', choices: KINDS, only: true },
    json: { help: 'Print one JSON array', switch: true },
  },
  async run(flags, [pattern], io) {
    const all = describeOperations(await io.tables())
    if (pattern !== undefined) checkPattern(pattern, all)
    const kind = textOf(flags, 'kind')
    const rows = all.filter((row) => (pattern === undefined || fitsOperation(pattern, row.id)) && (kind === undefined || row.kind === kind))
    print(io, flags, rows, () => [...rows.flatMap(linesOf), totals(rows)])
    return 0
  },
}

function linesOf({ id, kind, method, path, calls, differences, because }: OperationRow): string[] {
  return [
    `${id}  ${kind}`,
    `  v1  ${method} ${path}`,
    ...calls.map((call) => `  v2  ${call}`),
    ...(because === undefined ? [] : [`  because ${because}`]),
    ...(differences.length === 0 ? [] : [`  differences ${differences.join(', ')}`]),
  ]
}

/** `45 operations: 42 direct, 3 composed`. */
function totals(rows: readonly OperationRow[]): string {
  const counts = KINDS.map((kind) => [kind, rows.filter((row) => row.kind === kind).length] as const).filter(([, count]) => count > 0)
  const kinds = counts.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return `${many(rows.length, 'operation')}${kinds === '' ? '' : `: ${kinds}`}`
}
