import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasChromium, openBrowser } from '../report/browser.ts'
import { startProxy } from '../stage/proxy.ts'
import { answering, startUpstream } from '../stage/upstream.ts'

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
    const proxy = await startProxy({ 'upstream.v2': upstream.url, 'upstream.v1': upstream.url, ...settings })
    onTestFinished(async () => {
      await proxy.close()
      await upstream.close()
    })
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
    for (const host of ['localhost', '127.0.0.1']) {
      for (const path of ['/', '/report', '/report#/operation/iam.groups.list']) {
        const { page } = await strangersPage(host)
        await run(page, `document.body.innerHTML = '<a href="${adminUrl}${path}">look</a>'`)
        await page.getByRole('link').click()
        await page.waitForURL(`${adminUrl}/report${path.slice('/report'.length)}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
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
