import { SignJWT } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Report } from '../../src/admin/report/report.ts'
import { Issuer, pairOf } from '../stage/authority.ts'
import { hasChromium, open, openBrowser, proxy } from './report-stage.ts'

const CANARY = { operations: 'iam.groups.*', clients: '*', mode: 'diff-v1' as const, canary: { percent: 100, mode: 'v2' as const } }

/** Longer than the page waits between two requests. */
const SOON = 40_000

/** A person in front of the page. */
function reader(page: Page) {
  const strip = page.getByRole('region', { name: 'Active now' })
  return {
    strip,
    async enter(token: string) {
      await page.getByLabel('Token').fill(token)
      await page.getByRole('button', { name: 'Show the report' }).click()
    },
    async forget() {
      await page.evaluate('sessionStorage.clear()')
      await page.getByRole('button', { name: 'Refresh' }).click()
      await page.getByRole('heading', { name: 'This report requires a token' }).waitFor()
    },
    /** Waits until the page is shown, which offers no change. */
    async mayOnlyRead() {
      await page.getByRole('heading', { name: 'Next step' }).waitFor()
      await strip.getByText('Active', { exact: true }).click()
      await strip.getByText('You cannot change anything here').waitFor()
      expect(await page.getByRole('button', { name: /^(Back|Everything|Pause)/ }).count()).toBe(0)
    },
  }
}

describe.skipIf(!hasChromium())('the page while a proxy runs', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('shows a circuit that opens, without losing focus, place or selection', async () => {
    const { stage, adminUrl, ask } = await proxy({ modes: { default: 'diff-v1', rules: [CANARY], testers: [] } })
    await ask('/iam/v1/groups', '/iam/v1/roles', '/iam/v1/identities', '/registry/v1/repos')
    const { page, said, asked } = await open(browser, 'about:blank', { viewport: { width: 1440, height: 500 } })
    await page.clock.install()
    await page.goto(`${adminUrl}/report`)
    const row = page.getByRole('row', { name: /iam\.groups\.list/ })
    const { strip } = reader(page)
    await row.getByText('100 %').waitFor()
    await strip.getByText('Active', { exact: true }).click()
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
    expect(new Set(asked)).toEqual(new Set([`${adminUrl}/report`, `${adminUrl}/report.json`]))
    expect(said).toEqual([])

    await page.route('**/report.json', (route) => route.abort())
    await page.clock.fastForward(SOON)
    await page.getByText(/^No answer since \d\d:\d\d:\d\d UTC$/).waitFor()
    expect(await place()).toBe(before)
    await page.unroute('**/report.json')
    await page.clock.fastForward(SOON)
    await page.getByText('No answer since').waitFor({ state: 'detached' })
    await page.route('**/report.json', async (route) => {
      const report = (await (await route.fetch({ headers: {} })).json()) as Report
      await route.fulfill({ json: { ...report, operations: [], now: { ...report.now, startedAt: 0 } } })
    })
    await page.clock.fastForward(SOON)
    await page.getByText('The proxy restarted at 1970-01-01 00:00:00 UTC.').waitFor()
    await page.getByRole('button', { name: 'Understood' }).click()
    await page.unroute('**/report.json')
    await page.route('**/report.json', (route) => route.fulfill({ status: 401, body: '{}' }))
    await page.clock.fastForward(SOON)
    await page.getByRole('heading', { name: 'This report requires a token' }).waitFor()
  })

  it('changes nothing without a token, and goes back to v1 with one, unless somebody else was faster', async () => {
    const token = 'the-token-that-changes'
    const steps = [{ percent: 100, hold: '1h' }]
    const rollout = { name: 'iam', steps, target: 0.001, retries: 2, watch: '1h' }
    const moving = { operations: 'iam.roles.*', clients: '*', mode: 'diff-v1' as const, canary: { mode: 'diff-v2' as const, rollout } }
    const modes = { default: 'diff-v1' as const, rules: [CANARY, moving], testers: [] }
    const { stage, adminUrl, ask } = await proxy({ modes, 'admin.token': token, 'admin.readToken': 'the-token-that-reads' })
    await ask('/iam/v1/groups')
    const rules = async () => {
      const answer = await fetch(`${adminUrl}/modes`, { headers: { authorization: `Bearer ${token}` } })
      return (await answer.json()) as { readonly rules: readonly object[]; readonly rollouts?: readonly { readonly phase: string }[] }
    }
    const { page } = await open(browser, `${adminUrl}/report#/operation/iam.groups.list`)
    const { strip, enter, forget, mayOnlyRead } = reader(page)
    await enter('the-token-that-reads')
    await mayOnlyRead()
    await forget()
    await enter(token)
    await strip.getByText('Active', { exact: true }).click()
    await strip.getByRole('button', { name: 'Pause' }).click()
    await strip.getByRole('button', { name: 'Resume' }).waitFor()
    expect(await rules()).toMatchObject({ rollouts: [{ phase: 'paused' }] })

    const back = page.locator('.next > button')
    await back.click()
    const dialog = page.getByRole('dialog', { name: 'Back to v1: iam.groups.list' })
    await dialog.getByText('v1 answers every client of iam.groups.list').waitFor()
    await stage.setModes(modes)
    await dialog.getByRole('button', { name: 'Back to v1' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/^Somebody else was faster: .*version 2/)
      .waitFor()
    expect((await rules()).rules[0]).toMatchObject(CANARY)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.route('**/modes', (route) => route.fulfill({ status: 503, json: { message: 'the store answers too late' } }))
    await back.click()
    await dialog.getByRole('button', { name: 'Back to v1' }).click()
    await dialog.getByText('It is not known whether something was changed: the store answers too late.').waitFor()
    await page.unroute('**/modes')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await back.click()
    await dialog.getByRole('button', { name: 'Back to v1' }).click()
    await back.waitFor({ state: 'detached' })
    expect((await rules()).rules[0]).toMatchObject({ operations: 'iam.groups.list', mode: 'diff-v1' })
    await strip.getByRole('button', { name: 'Everything back to v1' }).click()
    await page.getByText('1 rollout ends: iam.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Everything back to v1' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await rules()).rollouts ?? []).toEqual([])
  })

  it('lets a person of an identity provider change what the claim permits, and keeps the token in the tab alone', async () => {
    const [issuer, key] = [await new Issuer().listen(), await pairOf('k1')]
    onTestFinished(() => issuer.close())
    issuer.keys = [key.jwk]
    const { stage, adminUrl, ask } = await proxy({
      'log.level': 'info',
      modes: { default: 'diff-v1', rules: [CANARY], testers: [] },
      'admin.oidc.issuer': issuer.url,
      'admin.oidc.audience': ['crosswalk-admin'],
      'admin.oidc.write': ['platform'],
      'admin.oidc.read': ['engineers'],
    })
    await ask('/iam/v1/groups')
    const tokenOf = (email: string, group: string, until = '5 min') =>
      new SignJWT({ email, groups: [group] })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'JWT' })
        .setIssuer(issuer.url)
        .setAudience('crosswalk-admin')
        .setIssuedAt()
        .setExpirationTime(until)
        .sign(key.privateKey)
    const { page, said, asked } = await open(browser, `${adminUrl}/report#/operation/iam.groups.list`)
    const { enter, forget, mayOnlyRead } = reader(page)
    const tokens = [
      await tokenOf('mallory@example.com', 'guests'),
      await tokenOf('bob@example.com', 'platform', '5 min ago'),
      await tokenOf('bob@example.com', 'engineers'),
      await tokenOf('alice@example.com', 'platform'),
    ] as const
    await enter(tokens[0])
    await page.getByText('The proxy says: this token may neither read nor change anything').waitFor()
    await enter(tokens[1])
    await page.getByText('The proxy says: admin.oidc does not accept this token: it has expired.').waitFor()

    await enter(tokens[2])
    await mayOnlyRead()
    const put = (token: string) =>
      page.evaluate<string>(
        `fetch('/modes', { method: 'PUT', headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' }, body: '{"default":"v1"}' }).then((answer) => answer.text())`,
      )
    expect(await put(tokens[2])).toContain('this token only reads: to change something, its claim')
    await forget()

    await enter(tokens[3])
    await page.getByRole('heading', { name: 'Next step' }).waitFor()
    await page.locator('.next > button').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Back to v1' }).click()
    await page.locator('.next > button').waitFor({ state: 'detached' })
    const note = await stage.logged(({ what }) => what === 'modes')
    expect(note).toMatchObject({ by: { source: 'admin', token: 'oidc:alice@example.com' } })
    await page.getByRole('link', { name: /^Timeline/ }).click()
    await page.getByText('oidc:alice@example.com').first().waitFor()

    const places =
      '[localStorage.length, document.cookie, Object.keys(sessionStorage).join(), location.href, document.body.innerHTML].join(" | ")'
    const kept = await page.evaluate<string>(places)
    expect(kept).toMatch(/^0 \| {2}\| crosswalk\.admin\.token \| /)
    for (const token of tokens) {
      const secret = token.split('.')[2] ?? ''
      expect([kept, ...asked, JSON.stringify(stage.log)].filter((text) => text.includes(secret))).toEqual([])
    }
    await page.reload()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    // The browser itself tells of the answers that refused a token.
    expect(said.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })
})
