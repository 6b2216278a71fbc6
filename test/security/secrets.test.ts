import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasChromium, openBrowser } from '../admin/report-stage.ts'
import { sampled } from '../sample.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { answering, startUpstream } from '../stage/upstream.ts'

describe('records', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-secrets-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  /** Secrets: one for each place of a request or an answer that may hold one. */
  const SECRET = 'planted-7f3a9c'
  const planted = (place: string) => `${SECRET}-${place}`

  const jwt = [{ alg: 'RS256' }, { iss: 'https://issuer', sub: planted('subject') }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )

  const HEADERS = {
    cookie: `session=${planted('cookie')}`,
    'x-api-key': planted('header'),
    'proxy-authorization': `Basic ${planted('proxy')}`,
    'user-agent': planted('agent'),
    referer: `https://x/?token=${planted('referer')}`,
  }

  /** Sends requests with a secret in every possible place. */
  async function plant(stage: Stage): Promise<void> {
    const { organization, tokens } = stage.sandbox
    const options = { headers: HEADERS, token: tokens.admin }
    const query = `?name=${planted('name')}&token=${planted('query')}&${planted('parameter')}=1`
    const body = {
      name: 'made',
      description: planted('description'),
      readme: planted('readme'),
      client_secret: planted('client-secret'),
      [planted('member')]: 1,
      custom_overlay: { environment: { [planted('key')]: planted('value') } },
      aliases: [`${planted('alias')}:latest`],
    }
    const made = await stage.request('POST', `/registry/v1/repos/${organization}${query}`, { ...options, body })
    await stage.settled()
    expect(made.status).toBe(200)
    await stage.request('PUT', `/registry/v1/repos/${made.body.id}${query}`, { ...options, body })
    await stage.settled()
    await stage.request('GET', `/registry/v1/repos${query}`, options)
    await stage.request('GET', '/registry/v1/repos', options)
    await stage.request('GET', `/registry/v1/repos?id=${made.body.id}&limit=${planted('limit')}`, options)
    await stage.request('GET', `/registry/v1/repos?id=${made.body.id}`, options)
    await stage.request('GET', `/registry/v1/repotagssummary/${planted('path')}`, options)
    await stage.request('POST', `/iam/v1/identityProviders/${organization}`, {
      body: { name: planted('provider'), oidc: { issuer: 'https://issuer', client_id: planted('client'), client_secret: planted('oidc') } },
    })
    await stage.request('GET', '/iam/v1/groups', { ...options, token: `${jwt.join('.')}.${planted('signature')}` })
    await stage.request('POST', `/iam/v1/groups/${organization}`, { body: planted('no-object') })
    await stage.request('GET', '/registry/v1/vuln_reports', { ...options, token: tokens.viewer })
    await stage.settled()
  }

  /** Returns everything that a person or a tool could read. */
  async function outputs(stage: Stage, file: string): Promise<Record<string, string>> {
    const read = async (path: string) => (await fetch(stage.adminUrl + path)).text()
    const admin = await Promise.all(
      ['/modes', '/evidence', '/clients', '/comparisons', '/metrics', '/operations'].map(async (path) => [path, await read(path)]),
    )
    await stage.servers[0].close()
    const records = readdirSync(directory)
      .filter((name) => name.startsWith(file))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')])
    return { ...Object.fromEntries([...admin, ...records]), log: JSON.stringify(stage.log) }
  }

  it.each(['diff-v1', 'diff-v2'] as const)('reveals no secret of a request in mode %s', async (mode) => {
    const file = `${mode}.ndjson`
    const stage = await startStage({ mode, proxy: { 'records.file': join(directory, file) } })
    // Every comparison must have a difference to show.
    await stage.fault({ match: 'GET /registry/v2/repos/', change: { at: '/description', to: planted('answer') } })
    await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/*/description', to: planted('answer') } })
    await stage.fault({ match: 'GET /iam/v2/', status: 500 })
    await plant(stage)
    const told = await outputs(stage, file)
    await stage.sandbox.close()
    expect(told[file]?.split('\n').length).toBeGreaterThan(5)
    expect(told[file]).toContain('"outcome":"mismatch"')
    expect(told[file]).toMatch(mode === 'diff-v1' ? /"kind":"would-send"/ : /"check":"after-write"/)
    const credentials = Object.values(stage.sandbox.tokens)
    for (const [name, text] of Object.entries(told)) {
      // The log holds the requested path, which may contain anything from a client, and never its query.
      const looked = name === 'log' ? text.replaceAll(planted('path'), '') : text
      expect(`${name}: ${excerpt(looked, SECRET)}`).toBe(`${name}: `)
      for (const credential of credentials) expect(`${name}: ${excerpt(looked, credential)}`).toBe(`${name}: `)
    }
  })

  it('names subjects only where they are allowed', async () => {
    const stage = await startStage({ proxy: { 'records.subjects': true } })
    const identity = await (
      await fetch(`${stage.sandbox.url}/sts/exchange?aud=${stage.sandbox.url}`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-owner' },
      })
    ).json()
    await stage.request('GET', '/iam/v1/groups', { token: (identity as { token: string }).token })
    await stage.settled()
    const clients = (await (await fetch(`${stage.adminUrl}/clients`)).json()) as { subject?: string }[]
    expect(clients).toMatchObject([{ subject: expect.stringMatching(/^[0-9a-f]{40}/) }])
  })

  /** Returns the surroundings of a text; empty if it does not occur. */
  function excerpt(text: string, secret: string): string {
    const at = text.indexOf(secret)
    return at < 0 ? '' : text.slice(Math.max(0, at - 100), at + 60)
  }
})

describe('admin pages', () => {
  /** The host name of a foreign page. Chromium resolves it to this machine, as after a rebinding. */
  const EVIL = 'evil.example'

  describe.skipIf(!hasChromium())('foreign pages in Chromium', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser(`--host-resolver-rules=MAP ${EVIL} 127.0.0.1`)
    })
    afterAll(() => browser.close())

    /** Loads a page from the foreign server and returns the answers to its requests from then on. */
    async function strangersPage(host: string) {
      const server = await startUpstream((_, response) =>
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>x</title>'),
      )
      const { port } = new URL(server.url)
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      await page.goto(`http://${host}:${port}/`)
      await server.close()
      const answered: string[] = []
      page.on('response', (response) =>
        answered.push(`${response.request().method()} ${new URL(response.url()).pathname} ${response.status()}`),
      )
      return { page, port: Number(port), answered }
    }

    async function admin(settings: object = {}) {
      const upstream = await startUpstream(answering({}))
      const proxy = await startStage({ v1: upstream.url, v2: upstream.url, proxy: settings })
      const modes = async () => (await fetch(`${proxy.adminUrl}/modes`)).text()
      return { adminUrl: proxy.adminUrl, modes }
    }

    const run = (page: Page, script: string) => page.evaluate<unknown>(`(async () => { ${script} })()`)
    const PUT = `{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"default":"v1"}' }`

    it('neither read nor change anything after their name was bound to the admin port', async () => {
      const { page, port, answered } = await strangersPage(EVIL)
      const { modes } = await admin({ 'admin.port': port })
      const before = await modes()
      const said = await run(
        page,
        `const texts = []; for (const path of ['/modes', '/evidence', '/report.json']) texts.push(await (await fetch(path)).text());
      texts.push(await (await fetch('/modes', ${PUT})).text()); return texts.join()`,
      )
      expect(answered).toEqual(['GET /modes 403', 'GET /evidence 403', 'GET /report.json 403', 'PUT /modes 403'])
      expect(said).not.toContain('v2')
      expect(await modes()).toBe(before)
      expect((await page.goto(`http://${EVIL}:${port}/report`))?.status()).toBe(403)
    })

    it('are refused from another origin, however they ask', async () => {
      const { page, answered } = await strangersPage('localhost')
      const { adminUrl, modes } = await admin()
      const before = await modes()
      for (const attempt of [
        `fetch('${adminUrl}/evidence', { mode: 'no-cors' })`,
        `fetch('${adminUrl}/clients')`,
        `fetch('${adminUrl}/modes', ${PUT})`,
        `new Promise((done, failed) => document.body.append(Object.assign(new Image(), { src: '${adminUrl}/metrics', onload: done, onerror: failed })))`,
        `import('${adminUrl}/operations')`,
      ]) {
        expect([attempt, await run(page, `return ${attempt}.then(() => 'answered', () => 'blocked')`)]).toEqual([attempt, 'blocked'])
      }
      await run(page, `document.body.innerHTML = '<a href="${adminUrl}/report">look</a>'`)
      await page.getByRole('link').click()
      await page.waitForURL(`${adminUrl}/report`)
      expect(answered[0]).toBe('GET /report 200')
      expect(await modes()).toBe(before)
    })

    it('link to the page and to a view of it, and cannot read or embed what opens', async () => {
      const { adminUrl } = await admin()
      const paths = ['/', '/report', '/report#/operation/iam.groups.list']
      const links = ['localhost', '127.0.0.1'].flatMap((host) => paths.map((path) => [host, path] as const))
      // A sample has both hosts.
      for (const [host, path] of sampled(links, 3, 2)) {
        const { page } = await strangersPage(host)
        await run(page, `document.body.innerHTML = '<a href="${adminUrl}${path}">look</a>'`)
        await page.getByRole('link').click()
        await page.waitForURL(`${adminUrl}/report${path.slice('/report'.length)}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
      const { page, answered } = await strangersPage('localhost')
      const opened = page.waitForEvent('popup')
      await run(page, `window.opened = open('${adminUrl}/report')`)
      await (await opened).getByRole('heading', { level: 1 }).waitFor()
      expect(await run(page, `try { return String(opened.document.title) } catch (error) { return error.name }`)).not.toContain('Crosswalk')
      // The form would end a request of the frame that nobody has answered yet.
      const framed = page.waitForResponse(`${adminUrl}/report`)
      await run(page, `document.body.innerHTML = '<iframe src="${adminUrl}/report"></iframe>'`)
      await framed
      await run(page, `document.body.innerHTML = '<form method="post" action="${adminUrl}/report"></form>'; document.forms[0].submit()`)
      await page.waitForURL(`${adminUrl}/report`)
      expect(answered).toEqual(['GET /report 403', 'POST /report 403'])
    })

    it('do not include the report that a person opened by its address', async () => {
      const { adminUrl } = await admin()
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      expect((await page.goto(`${adminUrl}/report`))?.status()).toBe(200)
      expect((await page.reload())?.status()).toBe(200)
      expect(await run(page, `return (await fetch('/report.json')).status`)).toBe(200)
    })
  })
})
