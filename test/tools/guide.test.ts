import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { topics } from '../../mappings/topics.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import type { Client, OperationUse } from '../../src/migrate/clients.ts'
import { isShownIn, nameIn } from '../../src/tables/compile.ts'
import type { Fields } from '../../src/tables/fields.ts'
import { covers, type Operation } from '../../src/tables/operation.ts'
import { paramsOf } from '../../src/tables/query.ts'
import { DIALECTS, type Dialect } from '../../src/tables/uid.ts'
import { clientGuide, operationGuide, type SectionContext } from '../../src/tools/guide.ts'
import { type Block, guideBlocks, htmlPage, markdownOf, prose } from '../../src/tools/guide-pages.ts'
import { createMethodNames, type Guide, guideSchema } from '../../src/tools/guide-request.ts'
import { findingsIn, folder, hasChromium, OF_LOOKS, open, openBrowser } from '../admin/report-stage.ts'
import { hasCurl, paste, runCommand } from '../app/cli/support.ts'
import { operationOf, operations } from '../migrate/given.ts'
import { bearer, type Stage, startStage } from '../stage/stage.ts'

const methods = createMethodNames(readFacts())

function contextOf(dialect: Dialect, base = 'https://v2.example.com'): SectionContext {
  return {
    mappings,
    differences,
    topics,
    methods,
    base,
    env: { dialect, maskCase: 'snake', replaceMask: '*', notFound: 'empty', readmes: true },
  }
}

function guideOf(operation: Operation, dialect: Dialect): Guide {
  return operationGuide([operation], operation.id, contextOf(dialect))
}

describe('client guide', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-guide-'))
  let stage: Stage
  let caller = ''
  let guide: Guide

  const clients = (...argv: string[]) => runCommand(['clients', ...argv, '--admin', stage.adminUrl, '--upstream-v2', stage.sandbox.url])
  const section = (operation: string) => guide.sections.find((one) => one.operation === operation)

  beforeAll(async () => {
    stage = await startStage({ mode: 'diff-v1' })
    const org = stage.sandbox.organization
    for (const offset of [1, 2]) await stage.request('GET', `/iam/v1/groups?limit=2&offset=${offset}&uidp.descendants_of=${org}`)
    await stage.request('GET', `/iam/v1/groups?id=${org}`)
    await stage.request('GET', `/registry/v1/tags?excludeDates=true&name=hunter2`)
    await stage.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'demo', description: 'hunter3' } })
    await stage.request('POST', `/iam/v1/roles/${org}`, { body: { name: 'guided', capabilities: ['groups.list'] } })
    await stage.request('GET', '/libraries/v1/artifacts?ecosystems=GO')
    await stage.request('GET', '/registry/v1/vuln_reports')
    await stage.fault({ match: 'GET /iam/v2/roles', change: { at: '/roles/0/name', to: 'other' } })
    await stage.request('GET', '/iam/v1/roles')
    await stage.request('GET', '/iam/v1/roles', { token: stage.sandbox.tokens.viewer })
    await stage.settled()
    await stage.clearFaults()
    const [first] = JSON.parse((await clients('--json')).out)
    caller = first.caller
    guide = guideSchema.parse(JSON.parse((await clients(caller.slice(0, 6), '--guide', '--json')).out))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  describe('the guide of a client', () => {
    it('begins with what is called most', () => {
      expect(guide.client).toMatchObject({ caller, calls: 9 })
      expect(guide.sections.map(({ operation, calls }) => [operation, calls])[0]).toEqual(['iam.groups.list', 3])
      expect(guide.sections).toHaveLength(5)
    })

    it('shows each kind of request with its own parameters, and no secret', () => {
      const org = stage.sandbox.organization
      expect(section('iam.groups.list')?.requests.map(({ v1, share }) => [v1, share])).toEqual([
        [`GET /iam/v1/groups?uidp.descendants_of=${org}&offset=1&limit=2`, 2 / 3],
        [`GET /iam/v1/groups?id=${org}`, 1 / 3],
      ])
      expect(section('registry.tags.list')?.requests[0]).toMatchObject({
        v1: 'GET /registry/v1/tags?name=<name>&exclude_dates=true',
        calls: [{ url: expect.stringMatching(/\/registry\/v2\/tags\?name=<name>&include_referrers=true&include_dates=false&/) }],
      })
      expect(JSON.stringify(guide)).not.toContain('hunter')
    })

    it('has the parameters that the client gives, and those whose default changed', () => {
      expect(section('iam.groups.list')?.parameters.map(({ v1, v2, fate }) => [v1, v2, fate])).toEqual([
        ['uidp.descendants_of', 'uidp.descendants_of', 'same'],
        ['id', '(path)', 'moved'],
        ['offset', 'skip', 'renamed'],
        ['limit', 'page_size', 'renamed'],
      ])
      expect(section('registry.tags.list')?.parameters.map(({ v1 }) => v1)).toEqual([
        'name',
        'exclude_referrers',
        'exclude_dates',
        'exclude_epochs',
      ])
    })

    it('has the members that the client sends, and the mask that keeps what a PUT did', () => {
      expect(section('iam.groups.update')?.body.map(({ v1 }) => v1)).toEqual(['name', 'description'])
      expect(section('iam.groups.update')?.requests[0]?.calls[0]).toMatchObject({
        method: 'PATCH',
        url: expect.stringMatching(/\?updateMask=name%2Cdescription%2Cverified$/),
        body: { name: '<name>', description: '<description>' },
      })
    })

    it('names the differences that its requests can meet', () => {
      const codes = (operation: string) => section(operation)?.differences.map(({ code }) => code)
      expect(codes('iam.roles.create')).toEqual([])
      expect(codes('iam.groups.update')).toEqual([])
      expect(codes('iam.groups.list')).toEqual([])
    })

    it('shows where its answers differed', () => {
      expect(section('iam.roles.list')).toMatchObject({ mismatches: 1, seen: [{ kind: 'value', where: '/items/*/name', count: 1 }] })
    })

    it('says what v2 cannot do, and what comes closest', () => {
      expect(guide.blockers).toMatchObject([
        {
          use: 'libraries.artifacts.list?ecosystems',
          calls: 1,
          requests: ['GET /libraries/v1/artifacts?ecosystems=GO'],
          instead: expect.any(String),
        },
        { use: 'registry.vuln_reports.list', calls: 1, because: 'vulnerability reports have no v2 endpoint' },
      ])
      expect(guide.checklist[0]).toContain('libraries.artifacts.list?ecosystems')
    })

    it('has only topics that concern it', () => {
      expect(guide.topics.map(({ title }) => title)).toContain('Updates')
      expect(guide.topics.map(({ title }) => title)).not.toContain('Deletes')
    })
  })

  it('the report leaves out the parameters of requests, which only a guide needs', async () => {
    const { clients: known } = (await (await fetch(`${stage.adminUrl}/report.json`)).json()) as { clients: readonly Client[] }
    expect(known[0]?.operations[0]).toMatchObject({ operation: 'iam.groups.list', calls: 3 })
    expect(known[0]?.operations[0]).not.toHaveProperty('requests')
  })

  describe('crosswalk clients', () => {
    it('writes the guide in Markdown, or as a page', async () => {
      const markdown = (await clients(caller, '--guide')).out
      expect(markdown).toMatch(
        new RegExp(`^# Move ${caller} from v1 to v2\\n\\nThe client \`${caller}\`, which calls itself \`node\`, made 9 calls to v1`),
      )
      expect(markdown).toContain('\n- [ ] ')
      const file = join(directory, 'guide.html')
      expect(await clients(caller, '--guide', '--html', file)).toMatchObject({ code: 0, out: `written to ${file}` })
      expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<h1>Move /)
    })

    it('lists one client', async () => {
      expect((await clients(caller)).out.split('\n').filter((line) => !line.startsWith(' '))).toHaveLength(1)
      const lines = (await clients()).out.split('\n').filter((line) => !line.startsWith(' '))
      expect(lines).toEqual([...Array(2).fill(expect.stringMatching(/^[0-9a-f]{16} /)), expect.stringMatching(/^2 clients, \d+ calls: /)])
    })

    it.each([
      [['--guide'], 2, 'Say which client: crosswalk clients ID --guide.'],
      [['x', '--guide', '--csv'], 2, 'Choose one of --csv and --guide.'],
      [['x', '--html', 'f'], 2, '--html goes with --guide.'],
      [['x', '--guide', '--html', 'f', '--json'], 2, 'Choose one of --html and --json.'],
      [['nobody', '--guide'], 1, 'No client "nobody" has called; crosswalk clients lists them.'],
      [['', '--guide'], 1, 'No client "" has called;'],
    ])('refuses %j', async (argv, code, said) => {
      expect(await clients(...argv)).toMatchObject({ code, out: '', err: expect.stringContaining(said) })
    })

    it('suggests the client that was meant', async () => {
      const typo = `${caller.slice(0, -1)}${caller.endsWith('0') ? '1' : '0'}`
      expect((await clients(typo, '--guide')).err).toBe(`No client "${typo}" has called; did you mean "${caller}"?`)
    })
  })

  describe.runIf(hasCurl())('the v2 calls of a guide, run by curl', () => {
    it.each([0, 1])('give the rows that v1 gives: call %i', async (nth) => {
      const { v1, calls } = section('iam.groups.list')?.requests[nth] ?? { v1: '', calls: [] }
      const { curl = '' } = calls[0] ?? {}
      const env = { V2: stage.sandbox.url, TOKEN: stage.sandbox.tokens.owner }
      const answer = await paste(curl.replace('-sS', "-sS -w '\\n%{http_code}'"), env)
      const [body = '', status] = answer.split('\n')
      expect(status).toBe('200')
      const found = JSON.parse(body)
      const [method = '', path = ''] = v1.split(' ')
      // Past the proxy, which would count the call as one of the client.
      const asked = await fetch(stage.sandbox.url + path, { method, headers: bearer(stage.sandbox.tokens.owner) })
      const { items } = (await asked.json()) as { items: readonly Record<string, string>[] }
      expect(items.length).toBeGreaterThan(0)
      const rows: readonly { readonly uid: string; readonly name: string }[] = found.groups ?? [found]
      expect(rows.map(({ uid, name }) => [uid, name])).toEqual(items.map(({ id, name }) => [id, name]))
    })
  })
})

/** A list, a write with a mask, an emulation, and what v2 lacks. */
const SHOWN = ['iam.terms.list', 'iam.groups.update', 'registry.tags.update', 'registry.vuln_reports.list']

describe.skipIf(!hasChromium())('the page of a guide in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('is accessible on a wide screen and on a phone, in both themes, and asks for nothing', async () => {
    const shown = operations.filter(({ id }) => SHOWN.includes(id))
    const path = join(await folder(), 'guide.html')
    await writeFile(path, htmlPage('A guide', guideBlocks(operationGuide(shown, 'A guide', contextOf('specification')))))
    const { page, said, asked } = await open(browser, pathToFileURL(path).href, { bypassCSP: true })
    for (const [width, colorScheme, rules] of [
      [1440, 'light', undefined],
      [390, 'dark', OF_LOOKS],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect(await findingsIn(page, rules)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    expect({ said, asked }).toEqual({ said: [], asked: [] })
  })
})

describe('make guide', () => {
  const DAY = 24 * 3_600_000

  const use = (operation: string, more: Partial<OperationUse> = {}): OperationUse => ({
    operation,
    calls: 300,
    firstSeen: 0,
    lastSeen: 3 * DAY,
    modes: ['v1'],
    mismatches: 0,
    ...more,
  })

  function markdownFor(...operations: readonly OperationUse[]): string {
    const calls = operations.reduce((sum, one) => sum + one.calls, 0)
    const facts = { calls, lastSeen: 3 * DAY, mismatches: 0, couldMove: false, blockers: [], cautions: [] }
    const client: Client = { caller: 'c0ffee', subject: 'alice@example.com', ...facts, operations }
    return markdownOf(guideBlocks(clientGuide(client, contextOf('specification'))))
  }

  it('a guide says how many calls a day there are, if they were counted long enough', () => {
    expect(markdownFor(use('iam.groups.list'))).toContain('`GET /iam/v1/groups`: about 100 calls a day, 300 so far.')
    expect(markdownFor(use('iam.groups.list', { lastSeen: 60_000 }))).toContain('`GET /iam/v1/groups`: 300 calls.')
  })

  it('a guide names paths that no table knows, and values that v2 lacks, as what v2 cannot do', () => {
    const kind = { shape: 'a', path: [], query: [['include_upstream', 'true']] as const, samples: 1 }
    const markdown = markdownFor(
      use('unknown GET /registry/v1/repos/…/diff'),
      use('libraries.artifacts.list?include_upstream', { requests: [kind] }),
    )
    expect(markdown).toContain(
      '- `unknown GET /registry/v1/repos/…/diff` (about 100 calls a day, 300 so far): v1 answers it, and no table knows it. Nothing in v2 takes its place.',
    )
    expect(markdown).toContain(
      '`GET /libraries/v1/artifacts?include_upstream=true` (about 100 calls a day, 300 so far): v2 has no upstream packages. Closest in v2: leave it out',
    )
    expect(markdown).not.toContain('## What differs everywhere')
  })

  it('a guide shows every member of a body that was not seen, and merges kinds that look alike', () => {
    const kinds = ['a', 'b'].map((shape) => ({ shape, path: [['id'] as const], query: [], samples: 2 }))
    const markdown = markdownFor(use('iam.roles.update', { requests: kinds }))
    expect(markdown.match(/^### `PUT/gm)).toHaveLength(1)
    expect(markdown).toContain('Its body was not seen, so every member is shown.')
    expect(markdown).toContain('"capabilities":["CAP_')
  })

  it('a guide has the differences that a request can meet', () => {
    const of = (members: readonly string[]) =>
      markdownFor(use('iam.roles.create', { requests: [{ shape: 'a', path: [], query: [], members, samples: 1 }] }))
    expect(of(['name'])).toContain('**role-capabilities-required**')
    expect(of(['name', 'capabilities'])).not.toContain('role-capabilities-required')
  })
})

describe('operation guides', () => {
  /** Texts that only a mistake brings into a guide. */
  const MISTAKES = /undefined|\[object|NaN|CROSSWALK-| {2},|\(\)/

  /** Dotted names of all members, `[]` and `*` left out. */
  function namesIn(fields: Fields, dialect: Dialect, isAnswer: boolean, prefix = ''): readonly string[] {
    return Object.entries(fields).flatMap(([name, field]) => {
      if (isAnswer && !isShownIn(dialect, field)) return []
      const own = prefix + nameIn(dialect, name, field)
      const inner = field.type.kind === 'list' || field.type.kind === 'map' ? field.type.of : field.type
      return [own, ...(inner.kind === 'object' ? namesIn(inner.fields, dialect, isAnswer, `${own}.`) : [])]
    })
  }

  const plain = (rows: readonly { readonly v1: string }[]) => rows.map(({ v1 }) => v1.replaceAll('[]', '').replaceAll('.*', '')).sort()

  describe.each(DIALECTS)('the guide of every operation in the dialect %s', (dialect) => {
    const guides: readonly Guide[] = operations.map((operation) => guideOf(operation, dialect))

    it('follows its schema', () => {
      for (const guide of guides) expect(guideSchema.parse(guide)).toEqual(guide)
    })

    it('names the gRPC method of v1, and one of v2 for every call', () => {
      const sections = guides.flatMap((guide) => guide.sections)
      expect(sections.filter(({ grpc, requests: [first] }) => !grpc || (grpc.v2.length === 0 && first?.calls.length !== 0))).toEqual([])
      const methods = (id: string) => sections.find(({ operation }) => operation === id)?.grpc?.v2.map((name) => name.split('.').at(-1))
      expect(methods('iam.groups.list')).toEqual(['GroupsService/ListGroups'])
      expect(methods('registry.repos.list')).toEqual(['ReposService/ListRepos', 'ReposService/GetRepoReadme'])
    })

    it('accounts for every parameter and every member of the tables once', () => {
      for (const [at, { params, ownParams, request, answer, envelope, rows, begin }] of operations.entries()) {
        const [section] = guides[at]?.sections ?? []
        if (!begin || !section) continue
        expect(section.parameters.map(({ v1 }) => v1)).toEqual([...Object.keys(params), ...ownParams])
        const row = namesIn(answer?.shown ?? {}, dialect, true, rows ? 'items.' : '')
        const beside = namesIn(envelope?.shown ?? {}, dialect, true)
        expect(plain(section.answer)).toEqual([...(rows ? ['items'] : []), ...beside, ...row].sort())
        expect(plain(section.body)).toEqual([...namesIn(request?.fields ?? {}, dialect, false)].sort())
        for (const { fate, v2, note } of [...section.parameters, ...section.answer, ...section.body]) {
          expect([fate, v2 ?? note]).not.toContain(undefined)
        }
      }
    })

    it('has the v2 calls of what v2 serves, and a reason for the rest', () => {
      for (const [at, { id, begin }] of operations.entries()) {
        const { sections, blockers, checklist } = guides[at] as Guide
        expect([id, sections.length, blockers.length]).toEqual([id, begin ? 1 : 0, begin ? 0 : 1])
        for (const { requests } of sections)
          for (const { calls, refusal } of requests) expect([id, calls.length > 0, refusal]).toEqual([id, true, undefined])
        for (const { because } of blockers) expect(because).not.toBe('')
        expect(checklist.length).toBeGreaterThan(0)
      }
    })

    it('is written in all formats, without a gap', () => {
      for (const guide of guides) {
        const blocks = guideBlocks(guide)
        const texts = [markdownOf(blocks), htmlPage(guide.title, blocks), JSON.stringify(guide)]
        for (const text of texts) expect(MISTAKES.exec(text)?.[0]).toBeUndefined()
        for (const [nth, block] of blocks.entries()) {
          const next = blocks[nth + 1]
          if (block.kind === 'heading')
            expect([guide.title, block.text, next && (next.kind !== 'heading' || next.level > block.level)]).toEqual([
              guide.title,
              block.text,
              true,
            ])
          if (block.kind === 'table') expect(block.rows.length).toBeGreaterThan(0)
          if (block.kind === 'list') expect(block.items.length).toBeGreaterThan(0)
        }
      }
    })
  })

  describe('the members of a guide', () => {
    const guideFor = (id: string) => guideOf(operationOf(id), 'specification')
    const members = (id: string) => guideFor(id).sections[0]?.answer.map(({ v1, v2, fate }) => [v1, v2, fate])

    it('have their names in the object that another call has', () => {
      expect(members('registry.repo_tags_summary.get')).toContainEqual(['latest_tag.id', '….uid', 'renamed'])
      expect(members('iam.identity_providers.list')).toContainEqual(['items[].scim.token_expire_time', '….tokenExpireTime', 'renamed'])
    })

    it('stand for all that is below them if v2 has none of it', () => {
      expect(members('registry.eol_tags.list')).toContainEqual(['items[].main_package_version.lts', undefined, 'dropped'])
      const markdown = markdownOf(guideBlocks(guideFor('registry.eol_tags.list')))
      expect(markdown).toContain('| `items[].main_package_version` | – | dropped: ')
      expect(markdown).not.toContain('main_package_version.lts')
    })
  })

  it('tells requests that can meet a difference by what the operations have', () => {
    for (const { code, operations: patterns, met } of differences) {
      if (!met) continue
      const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
      const names = covered.flatMap((operation) => [...paramsOf(operation), ...Object.keys(operation.request?.fields ?? {})])
      for (const name of [met.given, met.sent, met.missing].flatMap((list) => list ?? []))
        expect([code, names.includes(name)]).toEqual([code, true])
    }
  })
})

describe('render', () => {
  const HOSTILE = '<script>alert(1)</script> `x` | **b** [a](javascript:1) & \n# not a heading'

  const blocks: readonly Block[] = [
    { kind: 'heading', level: 1, text: [HOSTILE] },
    { kind: 'text', text: [{ code: 'a`b|c' }, ' ', HOSTILE] },
    { kind: 'table', label: HOSTILE, head: ['x'], rows: [[[{ code: 'a|b' }]], [[HOSTILE]]] },
  ]

  describe('a guide in Markdown', () => {
    it('takes no text of a client for markup', () => {
      const lines = markdownOf(blocks).split('\n')
      expect(lines[0]).toBe('# \\<script\\>alert(1)\\</script\\> \\`x\\` | \\*\\*b\\*\\* \\[a\\](javascript:1) \\& # not a heading')
      expect(lines[2]).toMatch(/^``a`b\|c`` \\<script/)
      expect(lines.slice(4)).toEqual(['| x |', '| --- |', '| `a\\|b` |', expect.stringMatching(/^\| \\<script.* \\\| .* \|$/), ''])
    })

    it('keeps code in our own prose', () => expect(markdownOf([{ kind: 'text', text: prose('`id` is `uid`.') }])).toBe('`id` is `uid`.\n'))
  })

  it('a guide as a page runs nothing and loads nothing', () => {
    const page = htmlPage(HOSTILE, blocks)
    expect(page).not.toMatch(/<script|javascript:1"|<b>/)
    expect(page).toMatch(/content="default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'"/)
    expect(page).not.toMatch(/(?:src|href)="(?!data:,)/)
  })
})
