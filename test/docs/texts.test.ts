import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import * as words from '../../src/admin/web/words.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { SETTINGS } from '../../src/app/config/settings.ts'
import { runCommand } from '../app/cli/support.ts'
import { atLeast, shown, writeReport } from '../programs/bench/report.ts'
import { CONFIGURATIONS } from './pages.ts'

describe('a word of our own', () => {
  /** Words that mean something of their own here, as the glossary names them. */
  const WORDS: readonly (readonly [entry: string, pattern: RegExp])[] = [
    ['shadow', /\bshadows?\b/i],
    ['canary', /\bcanar(y|ies)\b/i],
    ['rollout', /(?<!Argo )\brollouts?\b/i],
    ['stranger', /\bstrangers?\b/i],
    ['kind of request', /\bkinds? of (its |a |the )?requests?\b/i],
    ['observation', /\bobservations?\b/i],
    ['transient', /\btransients?\b/i],
    ['race', /\braces?\b/i],
    ['blind spot', /\bblind spots?\b/i],
    ['unverifiable', /\bunverifiable\b/i],
    ['bound', /(?<=\b(the|its|a|95 %) ⟦?)bound\b/i],
    ['circuit', /\bcircuits?\b/i],
    ['epoch', /\bepochs?\b/i],
  ]

  /** The map of pages has links alone; the glossary explains; the facts are given; the pages for contributors name files. */
  const LEFT_OUT = /^(README|glossary|releasing|development|facts\/.*)\.md$/

  /** Pages of tables, most of which a program writes: a link above the tables explains all of their words. */
  const TABLES = /^(why\/security|reference\/(configuration|differences|errors|events|grpc-methods|metrics))\.md$/

  const PAGES = ['../README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' })].filter(
    (name) => name.endsWith('.md') && !LEFT_OUT.test(name),
  )

  /** The prose of a page: without code, headings, pictures and comments. The text of a link is between `⟦` and `⟧`. */
  function proseOf(markdown: string): string {
    return markdown
      .replace(/^```.*?^```$/gms, '')
      .replace(/^#.*$/gm, '')
      .replace(/<!--.*?-->/gs, '')
      .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
      .replace(/`[^`\n]*`/g, '`')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '⟦$1⟧')
  }

  /** True if the place is in a link, or in bold or italics: those lead to an explanation, or are followed by one. */
  function isExplained(prose: string, at: number): boolean {
    const before = prose.slice(prose.lastIndexOf('\n', at) + 1, at)
    return before.lastIndexOf('⟦') > before.lastIndexOf('⟧') || (before.match(/\*+/g) ?? []).length % 2 === 1
  }

  function unexplained(page: string): readonly string[] {
    const markdown = readFileSync(`docs/${page}`, 'utf8')
    const prose = proseOf(markdown)
    const lead = markdown.slice(0, markdown.search(/^(\||## |```)/m))
    if (TABLES.test(page) && lead.includes('](../glossary.md)')) return []
    return WORDS.flatMap(([entry, pattern]) => {
      const at = prose.search(pattern)
      return at < 0 || isExplained(prose, at) ? [] : [`${entry}: …${prose.slice(Math.max(0, at - 40), at + 20).replaceAll('\n', ' ')}…`]
    })
  }

  it('is in the glossary', () => {
    const entries = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/\*\*([^*]+)\*\*/g)].map(([, entry]) => entry)
    expect(WORDS.map(([entry]) => entry).filter((entry) => !entries.includes(entry))).toEqual([])
  })

  it.each(PAGES)('is explained or linked where %s first says it', (page) => {
    expect(unexplained(page)).toEqual([])
  })
})

describe('configurations', () => {
  it.each(CONFIGURATIONS)('accepts the configuration that $page shows: $text', ({ text }) => {
    const folder = mkdtempSync(join(tmpdir(), 'configuration-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'crosswalk.conf')
    writeFileSync(path, text)
    expect(loadConfig({ flags: { config: path }, env: {} })).not.toHaveProperty('problem')
  })

  it('finds three of at most six lines in README.md', () => {
    const lines = CONFIGURATIONS.filter(({ page }) => page === 'README.md').map(({ text }) => text.trimEnd().split('\n').length)
    expect(lines).toHaveLength(3)
    expect(Math.max(...lines)).toBeLessThanOrEqual(6)
  })

  it('keeps README.md within 100 lines of 120 characters, and 800 words', () => {
    const text = readFileSync('README.md', 'utf8').trimEnd()
    const lines = text.split('\n')
    expect(lines.length).toBeLessThanOrEqual(100)
    expect(lines.filter((line) => line.length > 120)).toEqual([])
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(800)
  })
})

describe('contributing', () => {
  const page = readFileSync('CONTRIBUTING.md', 'utf8')

  it('the page for contributors has a row for each room and no other rows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const rows = [...page.matchAll(/^\| `([\w/]+)` \|/gm)].map(([, room = '']) => room)
    expect(rows.toSorted()).toEqual([...folders.map(({ name }) => name), 'mappings', 'docs/site'].toSorted())
  })

  describe('the page of the architecture', () => {
    const text = readFileSync('docs/why/architecture.md', 'utf8')
    const quoted = [...text.matchAll(/`((?:src|mappings)\/[\w./-]+)`:\n\n```ts\n(.*?)```/gs)].map(([, file = '', code = '']) => ({
      file,
      code,
    }))

    it('shows code at every stop', () => {
      expect(quoted.length).toBe([...text.matchAll(/```ts/g)].length)
      expect(quoted.length).toBeGreaterThan(8)
    })

    it.each(quoted)('quotes lines of $file', ({ file, code }) => {
      const lines = new Set(readFileSync(file, 'utf8').split('\n'))
      expect(code.split('\n').filter((line) => line !== '' && !lines.has(line))).toEqual([])
    })
  })
})

describe('figures', () => {
  const PAGES = ['docs/why/performance.md', 'CONTRIBUTING.md']

  it('writes measured figures for users, and open goals for contributors, between their marks', () => {
    const root = mkdtempSync(join(tmpdir(), 'figures-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    for (const folder of ['docs/why', 'docs/images']) mkdirSync(join(root, folder), { recursive: true })
    for (const page of PAGES) cpSync(page, join(root, page))
    const goal = atLeast(1, 'one resource by id: crosswalk ÷ @fastify/http-proxy', 1.25, '×', 1.6)
    const met = atLeast(2, 'the list by windows', 200, 'ms', 100)
    writeReport('Node 0', [shown(1, 'one resource by id: crosswalk', 12_345, 'requests/s'), goal, met], root)
    const [figures = '', goals = ''] = PAGES.map((page) => readFileSync(join(root, page), 'utf8'))
    expect(figures).toContain('| **Crosswalk** | 12345 /s |')
    expect(figures).not.toContain('NOT HOLD')
    expect(goals).toContain('1 of 2 goals hold')
    expect(goals).not.toContain('the list by windows')
    expect(goals).toMatch(/\| 1\.25 × +\| ≥ 1\.6 × +\| DOES NOT HOLD \|/)
    const outside = (text: string) => text.replace(/(<!-- (\w+): written).*(<!-- end of \2 -->)/gs, '$1$3')
    expect([figures, goals].map(outside)).toEqual(PAGES.map((page) => outside(readFileSync(page, 'utf8'))))
    expect(readFileSync(join(root, 'docs/images/performance.svg'), 'utf8')).toMatch(/^<svg/)
  })
})

describe('links', () => {
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
})

describe('the texts that users read', () => {
  const ROOT = new URL('../../', import.meta.url)

  /** The pages for users; the facts cite themselves. */
  const DOCS = readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((page) => !page.startsWith('facts/'))
    .map((page) => `docs/${page}`)

  /** A section number, except of an RFC: users do not have the other documents. */
  const CITATION = /(?<!RFC \d+ )§/

  /** Every text in a value that cites a document, with its path. */
  function citationsIn(value: unknown, at = '', seen = new Set<unknown>()): readonly string[] {
    if (typeof value === 'string') return CITATION.test(value) ? [`${at}: ${value}`] : []
    if (typeof value !== 'object' || value === null || seen.has(value)) return []
    seen.add(value)
    const entries = value instanceof Map ? [...value] : Object.entries(value)
    return entries.flatMap(([key, inner]) => citationsIn(inner, `${at}/${key}`, seen))
  }

  it('are found in every part of a value', () => {
    const value = { rows: [new Map([['a', { because: 'v2 has none (facts §4.4)' }]])], rfc: 'nothing ends before (RFC 9745 §4)' }
    expect(citationsIn(value)).toEqual(['/rows/0/a/because: v2 has none (facts §4.4)'])
  })

  it.each(Object.entries({ mappings, differences, settings: SETTINGS, report: { ...words } }))('cite no document in %s', (_, texts) => {
    expect(citationsIn(texts)).toEqual([])
  })

  it('cite no document in the output of the commands about themselves', async () => {
    const help = (await runCommand(['--help'])).out
    const commands = [...help.matchAll(/^ {2}crosswalk ([a-z]+( token)?)/gm)].map(([, command = '']) => command.split(' '))
    expect(commands.length).toBeGreaterThan(8)
    const argvs = [...commands.map((command) => [...command, '--help']), ['operations'], ['operations', '--json']]
    const printed = await Promise.all(argvs.map(async (argv) => [argv.join(' '), await runCommand(argv)]))
    expect(citationsIn({ help, ...Object.fromEntries(printed) })).toEqual([])
  })

  it('cite no document in the explanation of any operation', async () => {
    const operations = mappings.flatMap((mapping) => mapping.operations)
    const lines = operations.map(({ method, template }) => `${method} ${template.replace(/\{[^}]*\}/g, 'aa')}?unknown=1`)
    const explained = await Promise.all(lines.map((line) => explain(line)))
    expect(citationsIn(explained)).toEqual([])
    for (const { code, out } of explained) expect([code, out[0]]).toEqual([0, '#'])
  })

  it('cite no document in the README and the pages of docs', () => {
    const pages = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...DOCS]
    const read = pages.filter((page) => page.endsWith('.md')).map((page) => [page, readFileSync(new URL(page, ROOT), 'utf8').split('\n')])
    expect(citationsIn(Object.fromEntries(read))).toEqual([])
  })

  /** Adds a body with an unknown member, so that the reason for dropping it is printed. */
  const explain = (line: string) =>
    /^(POST|PUT|PATCH)/.test(line)
      ? runCommand(['explain', line, '--type', 'application/json', '--data', '-'], {}, '{"unknown": 1}')
      : runCommand(['explain', line])
})

describe('version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

  it('has the version of package.json in the lock file', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    expect([lock.version, lock.packages[''].version]).toEqual([version, version])
  })

  it('has the version of package.json in the image of the Kubernetes manifests', () => {
    expect(readFileSync('docker/kubernetes/base/deployment.yaml', 'utf8')).toContain(`/crosswalk:${version}\n`)
    expect(readFileSync('docker/kubernetes/example/kustomization.yaml', 'utf8')).toContain(`newTag: ${version} }\n`)
  })

  it('has the version of package.json in the Helm chart', () => {
    const chart = readFileSync('docker/helm/crosswalk/Chart.yaml', 'utf8')
    expect(chart.match(/^(version|appVersion): .*$/gm)).toEqual([`version: ${version}`, `appVersion: ${version}`])
  })

  it('has the version of package.json in the labels of the image, and in its tags', () => {
    expect(readFileSync('docker/Dockerfile', 'utf8')).toContain(`ARG VERSION=${version}\n`)
    expect(readFileSync('docker/docker-bake.hcl', 'utf8')).toContain(`variable "VERSION" { default = "${version}" }`)
  })

  it('has dated notes on the current version, below those on unreleased changes', () => {
    const [unreleased, newest] = readFileSync('CHANGELOG.md', 'utf8').match(/^## .+$/gm) ?? []
    expect(unreleased).toBe('## Unreleased')
    expect(newest).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d$`))
  })
})
