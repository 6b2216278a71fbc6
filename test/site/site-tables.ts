import { asSiteTables, type SiteTables } from '../../docs/site/generated/site-tables.ts'
import { tables } from '../../mappings/index.ts'
import { guideContext } from '../../src/app/cli/commands/clients.ts'
import { configWith } from '../../src/app/config/config.ts'

/** The tables that the site is made of. */
export const siteTables: SiteTables = asSiteTables(tables, guideContext(configWith({}), tables))
