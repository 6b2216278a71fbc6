import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { settingsMarkdown } from '../../src/config/table.ts'
import { coverageTable, withSection } from './coverage-table.ts'
import { differencesPage } from './differences-page.ts'

const README = new URL('../../README.md', import.meta.url).pathname

/** A document that is out of date fails here; `npm run docs` writes it anew. */
it('docs/differences.md is made from the list of differences', async () => {
  await expect(differencesPage(differences, mappings)).toMatchFileSnapshot('../../docs/differences.md')
})

it('the tables of README.md are made from the tables of operations and settings', async () => {
  const readme = withSection(readFileSync(README, 'utf8'), 'coverage', coverageTable(mappings))
  await expect(withSection(readme, 'settings', settingsMarkdown())).toMatchFileSnapshot('../../README.md')
})
