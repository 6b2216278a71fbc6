import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { parseAst } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildAssets } from '../../docs/site/assets.ts'
import { brokenLinks, type SiteFiles } from '../../docs/site/broken-links.ts'
import { ERRORS } from '../../docs/site/errors/errors-page.ts'
import { asSiteTables, type SiteTables } from '../../docs/site/generated/site-tables.ts'
import { makeSite } from '../../docs/site/make-site.ts'
import { createDrawPage } from '../../docs/site/render/draw-page.ts'
import type { Targets } from '../../docs/site/render/links.ts'
import { tables } from '../../mappings/index.ts'
import { guideContext } from '../../src/app/cli/commands/clients.ts'
import { COMMANDS } from '../../src/app/cli/run.ts'
import { configWith } from '../../src/app/config/config.ts'
import { SETTING_KEYS } from '../../src/app/config/settings.ts'
import { findingsIn, hasChromium, OF_LOOKS, open, openBrowser } from '../admin/report-stage.ts'
import { sampled } from '../sample.ts'

/** A place in the code that makes an error of v1. */
interface ErrorSite {
  readonly file: string
  /** What it says, with `…` for what it puts in; empty if it says what others hand it. */
  readonly texts: readonly string[]
}

/** Folders without errors of v1: the admin port, commands, the sandbox, recorded cases and imagined answers. */
const OTHERS = ['src/admin/', 'src/app/cli/', 'src/sandbox/', 'src/tools/', 'src/migrate/modes/rules.ts', 'src/migrate/rollout/']

/** What makes an error, and which of its arguments says what is wrong. */
const MAKERS: Readonly<Record<string, number>> = {
  ApiError: 1,
  askAgain: 1,
  invalidArgument: 0,
  report: 1,
  unparsable: 1,
  unreadableCall: 0,
  badParameter: 0,
}

// biome-ignore lint/suspicious/noExplicitAny: a node of a syntax tree, of any kind
type Node = any

/** Returns every place that makes an error. */
function errorSites(): readonly ErrorSite[] {
  return sourceFiles().flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    if (!Object.keys(MAKERS).some((name) => source.includes(`${name}(`))) return []
    const nodes = nodesIn(parseAst(source, { lang: 'ts' }))
    return nodes.flatMap((node): ErrorSite[] => {
      const said = saidBy(node)
      return said === undefined ? [] : [{ file, texts: textsIn(said, nodes) }]
    })
  })
}

/** Returns every text of a file, as `errorSites` writes them. */
function textsOf(file: string): readonly string[] {
  return nodesIn(parseAst(readFileSync(file, 'utf8'), { lang: 'ts' })).flatMap((node) => textOf(node) ?? [])
}

function sourceFiles(): readonly string[] {
  return ['src', 'mappings']
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => `${root}/${name}`))
    .filter((file) => file.endsWith('.ts') && !file.includes('/engine/') && !OTHERS.some((folder) => file.startsWith(folder)))
    .sort()
}

function nodesIn(node: Node): readonly Node[] {
  if (Array.isArray(node)) return node.flatMap(nodesIn)
  if (typeof node?.type !== 'string') return []
  return [node, ...Object.values(node).flatMap((value) => (typeof value === 'object' ? nodesIn(value) : []))]
}

/** Returns the expression that says what is wrong, if a node makes an error. */
function saidBy({ type, callee, arguments: given }: Node): Node | undefined {
  if (type !== 'NewExpression' && type !== 'CallExpression') return undefined
  const position = callee?.type === 'Identifier' && Object.hasOwn(MAKERS, callee.name) ? MAKERS[callee.name] : undefined
  const said = position === undefined ? undefined : given[position]
  if (said?.type !== 'ObjectExpression') return said
  return said.properties.find(({ key }: Node) => key?.name === 'description')?.value
}

/** Returns the texts that an expression can be. A name stands for the constant of the file. */
function textsIn(said: Node, nodes: readonly Node[]): readonly string[] {
  const own = textOf(said)
  if (own !== undefined) return [own]
  if (said.type === 'ConditionalExpression') return [said.consequent, said.alternate].flatMap((branch) => textsIn(branch, nodes))
  if (said.type !== 'Identifier') return []
  const constants = nodes.filter(({ type, id }) => type === 'VariableDeclarator' && id?.name === said.name)
  return constants.flatMap(({ init }) => (init ? textsIn(init, []) : []))
}

function textOf(node: Node): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type !== 'TemplateLiteral') return undefined
  return node.quasis.map(({ value }: Node) => value.cooked).join('…')
}

/** The tables that the site is made of. */
const siteTables: SiteTables = asSiteTables(tables, guideContext(configWith({}), tables))

describe('the check of the links', () => {
  const site = (link: string) =>
    new Map([
      ['index.html', `<h1 id="top">A</h1><a class="term" href="${link}">b</a>`],
      ['docs/b.html', '<h2 id="part">B</h2><a href="../index.html#top">a</a>'],
      ['docs/c.css', ''],
    ])

  it.each(['docs/b.html', 'docs/b.html#part', '#top', 'docs/c.css', 'https://www.rfc-editor.org/', 'mailto:a@example.com'])(
    'passes %s',
    (link) => {
      expect(brokenLinks(site(link))).toEqual([])
    },
  )

  it.each([
    ['docs/d.html', 'index.html: docs/d.html leads to no file'],
    ['docs/b.html#other', 'index.html: docs/b.html#other leads to no part of that page'],
    ['#other', 'index.html: #other leads to no part of that page'],
    ['../index.html', 'index.html: ../index.html leads to no file'],
    ['/docs/b.html', 'index.html: /docs/b.html begins at the root of a server'],
  ])('names %s', (link, sentence) => {
    expect(brokenLinks(site(link))).toEqual([sentence])
  })
})

describe('a page of the site', () => {
  const targets: Targets = {
    places: new Map([
      ['README.md', 'index.html'],
      ['docs/a.md', 'docs/a.html'],
    ]),
    terms: new Map([
      ['limits.deadlineMs', 'settings.html#limitsdeadlinems'],
      ['own', 'docs/a.html#part'],
    ]),
    isFile: (path) => path === 'src/app/server/server.ts',
    fileUrl: () => undefined,
  }

  const drawn = (markdown: string) => createDrawPage()({ source: 'docs/a.md', path: 'docs/a.html', markdown }, targets)

  it('leads links of documents to pages, with their anchors', () => {
    expect(drawn('[x](../README.md#try-it)').html).toBe('<p><a href="../index.html#try-it">x</a></p>\n')
  })

  it('leaves the words of a link to a file that the site cannot show', () => {
    expect(drawn('see [`server`](../src/app/server/server.ts).').html).toBe('<p>see <code>server</code>.</p>\n')
  })

  it('leaves a link to nothing to the check of the links', () => {
    expect(drawn('[x](gone.md)').html).toContain('href="gone.md"')
  })

  it('makes a link of code that stands for a setting, but not within a heading or a link', () => {
    const link = '<a class="term" href="../settings.html#limitsdeadlinems"><code>limits.deadlineMs</code></a>'
    expect(drawn('`limits.deadlineMs`').html).toContain(link)
    expect(drawn('[`limits.deadlineMs`](../README.md)\n\n## `limits.deadlineMs`').html).not.toContain('settings.html')
    expect(drawn('`own`').html).toContain('href="#part"')
  })

  it('gives headings the anchors of GitHub, and repeated ones a number', () => {
    expect(drawn("# V2's `a.b`, told\n\n## Same\n\n## Same").headings.map(({ id }) => id)).toEqual(['v2s-ab-told', 'same', 'same-1'])
  })

  it('cuts its text into what is below each heading', () => {
    const { title, sections } = drawn('# T\n\none `limits.deadlineMs`.\n\n## Two words\n\n```sh\ncurl x\n```\n')
    expect([title, sections]).toEqual([
      'T',
      [
        { id: '', heading: '', text: 'one limits.deadlineMs.' },
        { id: 'two-words', heading: 'Two words', text: 'curl x' },
      ],
    ])
  })

  it('lets the keys scroll every block of code, fenced or indented', () => {
    const block = '<pre tabindex="0"><code>x &lt; y</code></pre>'
    expect([drawn('```\nx < y\n```').html, drawn('    x < y').html]).toEqual([`${block}\n`, `${block}\n`])
    expect(drawn('    x < y').sections[0]?.text).toBe('x < y')
  })

  it('has no style of its own, which its policy forbids', () => {
    expect(drawn('| a |\n|--:|\n| 1 |').html).toContain('<td class="right">')
  })
})

describe('the page of errors', () => {
  /** Words that other texts stand in, or that a service says. The head of the page and of its parts explain them. */
  const FRAMES = ['the … …', 'Invalid argument: …', '…; ask again later', 'parsing field "…": …']

  /** Texts that reach their error from elsewhere, with the files that hold them. */
  const HANDED: readonly (readonly [file: string, texts: readonly string[]])[] = [
    ['src/errors.ts', ['the v2 service answered HTTP … without naming a missing resource']],
    ['src/errors.ts', ['service sent an answer that cannot be passed on']],
    [
      'src/serve/http/app.ts',
      [
        'the request is not well-formed HTTP',
        'the request has no host header',
        'the request has two host headers',
        'a WebSocket handshake is a GET without content-length and transfer-encoding',
        'the request line and headers are larger than limits.headerBytes (…) allows',
        'the request headers did not arrive within limits.headersTimeoutMs (…)',
      ],
    ],
    [
      'src/serve/http/admission.ts',
      [
        'more than limits.requestsInFlight (…) requests are under way',
        'requests without a credential take their share of limits.requestsInFlight (…), three quarters',
        'more than limits.callerInFlight (…) requests of this caller are under way',
        'this caller sends more than limits.callerPerSecond (…) requests a second',
      ],
    ],
    ['src/tables/fields.ts', ['must be a …', 'must be one of …']],
    ['src/tables/query.ts', ['needs a v1 service: …; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on', 'is not a valid value']],
    ['src/serve/answer.ts', ['is not a parameter of this operation']],
    ['src/serve/upstream/v1.ts', ['the v1 service did not answer in time']],
    ['src/grpc/relay/session.ts', ['the … service does not speak gRPC; set upstream.…Grpc to rest if it speaks REST']],
    ['src/grpc/wire/call.ts', ['the client went away']],
    ['mappings/registry/repos.ts', ['the repo was created with id …, but without its readme', 'the readme had already been replaced']],
  ]

  /** Files whose errors say only what those above, a service or another replica says. */
  const HANDS_ON = new Set([
    ...HANDED.map(([file]) => file),
    'mappings/registry/readme.ts',
    'src/migrate/modes/select.ts',
    'src/grpc/calls/answer-v1.ts',
    'src/grpc/wire/framing.ts',
    'src/serve/request.ts',
    'src/serve/http/v1-surface.ts',
    'src/grpc/messages/status-of.ts',
    'src/tables/compile.ts',
    'src/tables/query.ts',
  ])

  /** A text of holes alone says what it is handed. */
  const hasWords = (text: string) => /\w{2}/.test(text.replace(/\(.*?\)/g, ''))

  const sites = errorSites()
  const listed = new Set(ERRORS.flatMap(({ rows }) => rows.flatMap(({ texts }) => texts)))
  const made = new Set([...sites.flatMap(({ texts }) => texts.filter(hasWords)), ...HANDED.flatMap(([, texts]) => texts)])

  it('lists every text with which Crosswalk makes an error of v1', () => {
    const spelled = (text: string) => (text === 'is not a valid value' ? '… is not a valid value' : text)
    expect([...made].map(spelled).filter((text) => !listed.has(text) && !FRAMES.includes(text))).toEqual([])
  })

  it('lists no text that nothing says', () => {
    const said = new Set([...made, '… is not a valid value'])
    expect([...listed].filter((text) => !said.has(text))).toEqual([])
  })

  it('knows every place that says what others hand it', () => {
    const handing = sites.filter(({ texts }) => texts.filter(hasWords).length === 0).map(({ file }) => file)
    expect(handing.filter((file) => !HANDS_ON.has(file))).toEqual([])
  })

  it.each(HANDED)('finds in %s what it hands on', (file, texts) => {
    expect(textsOf(file)).toEqual(expect.arrayContaining([...texts]))
  })

  it('says of every error what to do, without a full stop at the end of a cell', () => {
    const cells = ERRORS.flatMap(({ rows }) => rows.flatMap(({ cause, remedy }) => [cause, remedy]))
    expect(cells.filter((cell) => cell.length < 10 || cell.endsWith('.'))).toEqual([])
  })
})

/** The site without its assets, made once. */
let site: ReturnType<typeof makeSite> | undefined
const siteOf = () => {
  site ??= makeSite(process.cwd(), siteTables)
  return site
}

describe('looks', () => {
  /** A page of each kind: with pictures, wide tables, long code and a bare table, and those that the tables of the API make. */
  const SHOWN = [
    'CONTRIBUTING.html',
    'docs/start/shadow.html',
    'docs/why/comparison.html',
    'docs/facts/evidence.html',
    'operations/iam.groups.update.html',
    'commands.html',
  ]

  describe.skipIf(!hasChromium())('the site of the documents in Chromium', () => {
    let browser: Browser
    let folder: string
    beforeAll(async () => {
      browser = await openBrowser()
      folder = mkdtempSync(join(tmpdir(), 'site-'))
      for (const [path, content] of [...(await siteOf()), ...(await buildAssets(process.cwd()))]) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), content)
      }
    })
    afterAll(async () => {
      await browser.close()
      rmSync(folder, { recursive: true })
    })

    it.each(sampled(SHOWN, 6))(
      'has nothing that axe finds in %s, on a wide screen and on a phone, and no line beyond the edge',
      async (path) => {
        const { page, said } = await open(browser, pathToFileURL(join(folder, path)).href, { bypassCSP: true })
        expect(said).toEqual([])
        for (const [width, colorScheme, rules] of [
          [1280, 'light', undefined],
          [390, 'dark', OF_LOOKS],
        ] as const) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          expect(await findingsIn(page, rules)).toEqual([])
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        }
      },
    )
  })
})

describe('the site of the documents', () => {
  /** What `npm run site` builds besides. Their content is not looked at here. */
  const ASSETS = ['assets/site.css', 'assets/site.js', 'assets/theme.js'].map((path) => [path, ''] as const)

  const operations = siteTables.mappings.flatMap((mapping) => mapping.operations)
  let files: SiteFiles

  beforeAll(async () => {
    files = new Map([...(await siteOf()), ...ASSETS])
  })

  const pageAt = (path: string) => String(files.get(path))
  const wordsOf = (path: string) =>
    pageAt(path)
      .replace(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')

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
