import { readdirSync, readFileSync } from 'node:fs'

const PAGES = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]

/** The blocks of JSON and YAML of the pages. Each shows a configuration file. */
export const CONFIGURATIONS = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/```(?:jsonc?|yaml)\n(.*?)```/gs)].map(([, text = '']) => ({ page, text })),
)
