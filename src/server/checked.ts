import type { Config } from '../config/settings.ts'
import type { DescribedDeclaration } from '../migrate/compare/expected.ts'
import { NEEDS_V1 } from '../migrate/modes/modes.ts'
import { needV1 } from '../migrate/modes/rules.ts'
import { checkMappings } from '../tables/check.ts'
import type { Tables } from '../tables/tables.ts'
import { declarationsWith } from './declarations.ts'

/** Returns what the server is made from. Throws a sentence if the tables are wrong, or the settings do not go with them. */
export function checked(config: Config, tables: Tables): { readonly v2: string; readonly declarations: readonly DescribedDeclaration[] } {
  const v2 = config['upstream.v2']
  if (v2 === undefined) throw new Error('upstream.v2 is not set: give the base address of the v2 service')
  if (config['upstream.v1'] === undefined && needV1(config.modes)) throw new Error(NEEDS_V1)
  checkMappings(tables.mappings)
  const declared = declarationsWith(config['diff.ignore'], tables)
  if ('problem' in declared) throw new Error(declared.problem)
  return { v2, declarations: declared.declarations }
}
