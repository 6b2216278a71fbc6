import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { settingsMarkdown } from '../../src/config/table.ts'
import { configWith } from '../../src/config.ts'
import { boundsTable } from './bounds-table.ts'
import { coverageTable, withSection } from './coverage-table.ts'
import { differencesPage } from './differences-page.ts'
import { costTable } from './stranger-cost.ts'

const README = new URL('../../README.md', import.meta.url).pathname
const SECURITY = new URL('../../docs/security.md', import.meta.url).pathname

/** A document that is out of date fails here; `npm run docs` writes it anew. */
it('docs/differences.md is made from the list of differences', async () => {
  await expect(differencesPage(differences, mappings)).toMatchFileSnapshot('../../docs/differences.md')
})

it('the tables of README.md are made from the tables of operations and settings', async () => {
  const readme = withSection(readFileSync(README, 'utf8'), 'coverage', coverageTable(mappings))
  await expect(withSection(readme, 'settings', settingsMarkdown())).toMatchFileSnapshot('../../README.md')
})

it('the tables of docs/security.md are made from the settings', async () => {
  const page = withSection(readFileSync(SECURITY, 'utf8'), 'cost', costTable(configWith({})))
  await expect(withSection(page, 'bounds', boundsTable())).toMatchFileSnapshot('../../docs/security.md')
})
