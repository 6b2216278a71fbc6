import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const DOCS = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...DOCS]

/** The text without code blocks, which contain neither links nor headings. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/```.*?```/gs, '')
}

/** The anchors that GitHub derives from the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-'),
  )
}

/** The fault of a relative link, or undefined. */
function fault(page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(file)) return `${page}: there is no ${file}`
  if (anchor === undefined || anchorsOf(file).includes(anchor)) return undefined
  return `${page}: ${file} has no heading #${anchor}`
}

it.each(PAGES)('resolves every relative link of %s', (page) => {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  const relative = targets.filter((target) => !/^[a-z]+:/.test(target))
  expect(relative.flatMap((target) => fault(page, target) ?? [])).toEqual([])
})

/** The text in backticks of every page but the changelog, whose notes stay as they were. */
const NAMED = PAGES.filter((page) => page !== 'CHANGELOG.md').map((page) => ({
  page,
  spans: [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
}))

it.each(NAMED)('names only existing files in $page, apart from NAME', ({ spans }) => {
  const paths = spans.flatMap((span) => span.match(/(?:^|(?<= ))(?:src|test|mappings|docs|docker)\/[\w./-]+/g) ?? [])
  expect(paths.filter((path) => !path.includes('NAME') && !existsSync(path))).toEqual([])
})

it.each(NAMED)('names only scripts of package.json in $page', ({ spans }) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
  const used = spans.flatMap((span) => [...span.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script))
  expect(used.filter((script) => !Object.hasOwn(scripts, script))).toEqual([])
})

it('reaches every page of docs from the map of the pages, and the map from README.md', () => {
  const map = proseOf('docs/README.md')
  const listed = [...map.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => normalize(join('docs', target)))
  expect(DOCS.filter((page) => page !== 'docs/README.md' && !listed.includes(page))).toEqual([])
  expect(proseOf('README.md')).toContain('(docs/README.md)')
})
