import type { Config } from '../config/settings.ts'
import type { Migration } from '../migrate/migration.ts'
import { type OperationMode, operationModes } from '../migrate/modes/select.ts'
import { isRead } from '../serve/sides.ts'
import type { Mapping } from '../tables/operation.ts'

/** Returns a reader of the modes in force of every operation that v2 can serve. Without a v1 service, v2 answers everything. */
export function currentModesOf(
  { modes, report }: Pick<Migration, 'modes' | 'report'>,
  mappings: readonly Mapping[],
  { emulated, 'upstream.v1': v1 }: Pick<Config, 'emulated' | 'upstream.v1'>,
): () => readonly OperationMode[] {
  const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)
  const operations = served.map((one) => ({
    id: one.id,
    isV1First: v1 !== undefined && emulated === 'v1-first' && one.kind === 'emulated' && isRead(one),
  }))
  return () => {
    const open = report.openCircuits()
    return operationModes(modes.inForce(), operations, (operation) => open[operation] !== undefined)
  }
}
