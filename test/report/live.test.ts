import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startStage } from '../stage/stage.ts'
import { hasChromium, open, openBrowser } from './browser.ts'

const CANARY = { operations: 'iam.groups.*', clients: '*', mode: 'diff-v1' as const, canary: { percent: 100, mode: 'v2' as const } }

/** Longer than the page waits between two requests. */
const SOON = 40_000

describe.skipIf(!hasChromium())('the page while a proxy runs', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('shows a circuit that opens, without losing focus, place or selection', async () => {
    const stage = await startStage({ modes: { default: 'diff-v1', rules: [CANARY], testers: [] }, 'log.level': 'silent' })
    onTestFinished(() => stage.close())
    const ask = async (...paths: readonly string[]) => {
      for (const path of paths) await stage.request('GET', path)
      await stage.server.idle()
    }
    await ask('/iam/v1/groups', '/iam/v1/roles', '/iam/v1/identities', '/registry/v1/repos')
    const { page, said, asked } = await open(browser, 'about:blank', { viewport: { width: 1440, height: 500 } })
    await page.clock.install()
    await page.goto(`${stage.server.adminUrl}/report`)
    const row = page.getByRole('row', { name: /iam\.groups\.list/ })
    const strip = page.getByRole('region', { name: 'In force now' })
    await row.getByText('100 %').waitFor()
    await strip.getByText('In force', { exact: true }).click()
    await row.getByRole('link').focus()
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector('h1')); window.isSameDocument = true`)
    const place = () =>
      page.evaluate('[scrollY > 0, String(getSelection()), document.activeElement.textContent, window.isSameDocument].join()')
    const before = await place()
    await stage.fault({ match: 'GET /iam/v2/groups', status: 500 })
    await ask(...Array.from({ length: 10 }, () => '/iam/v1/groups'))
    await page.clock.fastForward(SOON)
    await row.getByText('Circuit open').waitFor()
    await row.getByText('Outside').waitFor()
    await strip.getByText('1 circuit open').waitFor()
    expect(await strip.getByText(/answers failed/).isVisible()).toBe(true)
    await page.getByRole('status').getByText('The circuit of iam.groups.list opened.').waitFor({ state: 'attached' })
    expect(await place()).toBe(before)
    expect(before).toBe('true,Operations,iam.groups.list,true')
    expect(new Set(asked)).toEqual(new Set([`${stage.server.adminUrl}/report`, `${stage.server.adminUrl}/report.json`]))
    expect(said).toEqual([])

    await page.route('**/report.json', (route) => route.abort())
    await page.clock.fastForward(SOON)
    await page.getByText(/^No answer since \d\d:\d\d:\d\d UTC$/).waitFor()
    expect(await place()).toBe(before)
    await page.unroute('**/report.json')
    await page.clock.fastForward(SOON)
    await page.getByText('No answer since').waitFor({ state: 'detached' })
    await page.route('**/report.json', (route) => route.fulfill({ status: 401, body: '{}' }))
    await page.clock.fastForward(SOON)
    await page.getByRole('heading', { name: 'This report asks for a token' }).waitFor()
  })
})
