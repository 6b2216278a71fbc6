import { readdirSync, readFileSync } from 'node:fs'

/** The facts show messages of v1 and v2. */
const IS_PAGE = /^(?!facts).*\.md$/

const PAGES = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).flatMap((name) => (IS_PAGE.test(name) ? [`docs/${name}`] : [])),
]

/** YAML elsewhere is for other programs. */
const WITH_YAML = 'docs/reference/configuration.md'

/** The blocks of the pages that show a configuration file. */
export const CONFIGURATIONS = PAGES.flatMap((page) => {
  const blocks = page === WITH_YAML ? /```(?:jsonc?|yaml)\n(.*?)```/gs : /```jsonc?\n(.*?)```/gs
  return [...readFileSync(page, 'utf8').matchAll(blocks)].map(([, text = '']) => ({ page, text }))
})
