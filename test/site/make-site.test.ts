import { readdirSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { brokenLinks, type SiteFiles } from '../../docs/site/broken-links.ts'
import { makeSite } from '../../docs/site/make-site.ts'
import { COMMANDS } from '../../src/app/cli/run.ts'
import { SETTING_KEYS } from '../../src/app/config/settings.ts'
import { siteTables } from './site-tables.ts'

/** What `npm run site` builds besides. Their content is not looked at here. */
const ASSETS = ['assets/site.css', 'assets/site.js', 'assets/theme.js'].map((path) => [path, ''] as const)

const operations = siteTables.mappings.flatMap((mapping) => mapping.operations)
let files: SiteFiles

beforeAll(async () => {
  files = new Map([...(await makeSite(process.cwd(), siteTables)), ...ASSETS])
})

const pageAt = (path: string) => String(files.get(path))
const wordsOf = (path: string) =>
  pageAt(path)
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')

describe('the site of the documents', () => {
  it('has no link that leads nowhere', () => {
    expect(brokenLinks(files)).toEqual([])
  })

  it('leads to every document from the list of pages', () => {
    const documents = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
    const list = /<nav id="pages"[\s\S]*?<\/nav>/.exec(pageAt('docs/index.html'))?.[0] ?? ''
    const wanted = documents
      .filter((name) => name !== 'README.md')
      .map((name) => name.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html'))
    expect(wanted.filter((path) => !list.includes(`href="${path}"`))).toEqual([])
  })

  it('has a page for every operation, and names its kind and its route there', () => {
    const lacking = operations.filter(({ id, method, kind }) => {
      const words = wordsOf(`operations/${id}.html`)
      return !words.includes(`${method} /`) || !words.includes(`Kind: ${kind}`)
    })
    expect(lacking.map(({ id }) => id)).toEqual([])
  })

  it('has a part for every setting and every command', () => {
    const has = (page: string, id: string) => pageAt(page).includes(` id="${id}"`)
    expect(SETTING_KEYS.filter((key) => !has('settings.html', key.toLowerCase().replaceAll('.', '')))).toEqual([])
    expect(Object.keys(COMMANDS).filter((name) => !has('commands.html', name.replace(' ', '-')))).toEqual([])
  })

  it('says nothing of a request that only a mistake brings', () => {
    const wrong = [...files.keys()].filter(
      (path) => path.startsWith('operations/') && /undefined|\[object|NaN|CROSSWALK-|§/.test(wordsOf(path)),
    )
    expect(wrong).toEqual([])
  })

  it('shows the curl lines, the types, the calls of v2 and the differences of an operation', () => {
    const words = wordsOf('operations/iam.roles.list.html')
    expect(words).toContain('curl -sS -H "Authorization: Bearer $TOKEN" "$V1/iam/v1/roles"')
    expect(words).toContain('"$V2/iam/v2/roles?page_size=200"')
    expect(words).toMatch(/items\[\]\.id\s+text\s+roles\[\]\.uid\s+renamed/)
    expect(pageAt('operations/iam.roles.list.html')).toContain('href="../docs/reference/differences.html#refused-first"')
  })

  it('shows the members of what only v1 answers, as far as its contract is known', () => {
    expect(wordsOf('operations/auth.auth.validate.html')).toMatch(/Answer[\s\S]*subject\s+text/)
  })
})
