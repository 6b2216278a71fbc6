import { readdirSync, readFileSync } from 'node:fs'

const PAGES = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]

/** YAML elsewhere is for other programs. */
const WITH_YAML = 'docs/configuration.md'

/** The blocks of the pages that show a configuration file. */
export const CONFIGURATIONS = PAGES.flatMap((page) => {
  const blocks = page === WITH_YAML ? /```(?:jsonc?|yaml)\n(.*?)```/gs : /```jsonc?\n(.*?)```/gs
  return [...readFileSync(page, 'utf8').matchAll(blocks)].map(([, text = '']) => ({ page, text }))
})
