import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Report } from '../../src/admin/report/report.ts'
import { type PageAssets, readAssets } from '../../src/admin/report-page.ts'
import { isFull, sampled } from '../sample.ts'
import {
  comparison,
  EXAMPLES,
  FAILED,
  FLEET,
  findingsIn,
  goTo,
  hasChromium,
  inForce,
  open,
  openBrowser,
  openFile,
  proxy,
  ROLLOUT,
  repeated,
  reportOf,
  shows,
  week,
} from './report-stage.ts'

/** More than a page of the report draws at once. */
const RECORDS = isFull ? 10_000 : 2_000
const COUNT = RECORDS.toLocaleString('en')

describe.skipIf(!hasChromium())('the page of the report in Chromium', () => {
  let browser: Browser
  let assets: PageAssets
  let made: Report | undefined
  /** A report of 2,000 records, which several tests show. */
  const usual = async () => {
    made ??= await reportOf(week(2_000))
    return made
  }

  beforeAll(async () => {
    assets = readAssets()
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth')
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

  it(`shows every operation of ${COUNT} records at a glance without any request`, async () => {
    const report = await reportOf(week(RECORDS))
    const { page, said, asked } = await openFile(browser, report, assets)
    await page.getByRole('heading', { name: 'Not ready to cut over' }).waitFor()
    expect(await page.locator('table.operations tbody tr').count()).toBe(report.operations.length)
    expect(await page.getByRole('img', { name: /^wrong .*bound .*target 0\.1 %$/ }).count()).toBe(
      report.operations.filter(({ n }) => n > 0).length,
    )
    expect(await page.title()).toBe('Operations – Crosswalk report')
    expect({ said, asked }).toEqual({ said: [], asked: [] })
  })

  it('draws the share of the observations that were wrong, which is never above its bound', async () => {
    const repeats = [1, 2].map((nth) => comparison(100 + nth, { caller: `caller-${nth}`, outcome: 'mismatch', repeat: true }))
    const firsts = Array.from({ length: 40 }, (_, nth) => comparison(nth, { caller: `caller-${nth}` }))
    const { page } = await openFile(browser, await reportOf([...firsts, ...repeats]), assets)
    await page.getByRole('img', { name: /^wrong 0 %, bound \d\.\d+ %/ }).waitFor()
  })

  it('draws no comparisons over time before the first one', async () => {
    const { span: _, ...counted } = await reportOf(week(10))
    const { page } = await openFile(browser, { ...counted, timeline: { stepMs: 1000, steps: [], notes: [] } }, assets)
    await page.getByRole('heading', { name: 'State of every operation' }).waitFor()
    expect(await page.getByText('Comparisons of all operations').count()).toBe(0)
  })

  it('leads from an operation to a difference to its examples by clicks, and back', async () => {
    const { page, said } = await openFile(browser, await usual(), assets)
    await page.getByRole('link', { name: 'registry.repos.list' }).click()
    await page.getByRole('link', { name: '/items/*/catalog_tier' }).click()
    await heading(page, 'value: /items/*/catalog_tier').waitFor()
    expect(await page.locator('td.is-v1.is-place').textContent()).toContain('"APPLICATION"')
    expect(await page.locator('td.is-v2.is-place').textContent()).toContain('"BASE"')
    const second = page.getByRole('option').nth(1)
    await second.click()
    expect(await second.getAttribute('aria-selected')).toBe('true')
    await page.goBack()
    await heading(page, 'registry.repos.list').waitFor()
    await page.getByRole('navigation', { name: 'Report' }).getByRole('link', { name: 'Clients' }).click()
    await page.getByRole('option').nth(3).click()
    await page.getByRole('region', { name: 'The chosen client' }).getByRole('link').first().click()
    await heading(page, /^(iam|registry)\./).waitFor()
    expect(said).toEqual([])
  })

  it('copies a text where the browser gives no clipboard, and says so', async () => {
    const { page } = await openFile(browser, await reportOf(repeated(1)), assets, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('no TLS'))`)
    await goTo(page, differenceAt('registry.repos.list', 'unexplained value /items/*/catalog_tier'))
    await page.getByRole('button', { name: 'Copy the command that prints the test' }).press('Enter')
    await page.getByRole('status').filter({ hasText: 'Copied: the command that prints the test' }).waitFor({ state: 'attached' })
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('crosswalk case c0')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON')
  })

  it('works with the keyboard alone, and shows the focus', async () => {
    const { page } = await openFile(browser, await usual(), assets)
    const focused = () => page.evaluate('document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('Operations')
    for (let nth = 0; (await focused()) !== 'registry.repos.list' && nth < 20; nth++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'registry.repos.list' }).waitFor()
    for (let nth = 0; (await focused()) !== '/items/*/catalog_tier' && nth < 5; nth++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'catalog_tier' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const chosen = page.locator('[role=option][aria-selected=true]')
    expect(await chosen.getAttribute('aria-posinset')).toBe('3')
    await page.keyboard.press('End')
    expect(await chosen.getAttribute('aria-posinset')).toBe(await chosen.getAttribute('aria-setsize'))
    const role = () => page.evaluate("document.activeElement.getAttribute('role')")
    for (let nth = 0; (await role()) !== 'slider' && nth < 10; nth++) await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowRight')
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(/comparisons that show it \d+/)
  })

  it('says what to do if nothing was recorded', async () => {
    const { page, said, asked } = await openFile(browser, await reportOf([]), assets)
    await page.getByRole('heading', { name: 'Nothing was recorded yet' }).waitFor()
    await page.getByRole('link', { name: /Clients/ }).click()
    await page.getByText('No client was recorded yet.').waitFor()
    await page.getByRole('link', { name: /Timeline/ }).click()
    await page.getByText('No mode was changed').waitFor()
    expect({ said, asked }).toEqual({ said: [], asked: [] })
  })

  it(`draws only the visible ones of ${COUNT} examples`, async () => {
    const tier = { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'a', v2: 'b' } as const
    const entries = Array.from({ length: RECORDS }, (_, nth) => comparison(nth, { outcome: 'mismatch', ...shows(tier) }))
    const { page } = await openFile(browser, await reportOf(entries), assets)
    await page.getByRole('link', { name: 'registry.repos.list' }).click()
    await page.getByRole('link', { name: '/items/*/catalog_tier' }).click()
    const list = page.getByRole('listbox')
    expect(await list.getByRole('option').first().getAttribute('aria-setsize')).toBe(String(RECORDS))
    expect(await list.getByRole('option').count()).toBeLessThan(40)
    await list.press('End')
    expect(await page.locator('[role=option][aria-selected=true]').getAttribute('aria-posinset')).toBe(String(RECORDS))
    expect(await list.getByRole('option').count()).toBeLessThan(40)
    const frameMs = (step: number) =>
      page.evaluate<number>(`(async () => {
        const list = document.querySelector('[role=listbox]')
        const started = performance.now()
        for (let nth = 0; nth < 60; nth++) {
          list.scrollTop = nth * ${step}
          await new Promise(requestAnimationFrame)
        }
        return (performance.now() - started) / 60
      })()`)
    // A list at rest shows how long a frame takes on this machine now.
    expect(await frameMs(8000)).toBeLessThan(100 + (await frameMs(0)))
  })

  it('marks a difference in the JSON around it, with its request, its row and equal ones', async () => {
    const { page, said } = await openFile(browser, await reportOf(repeated(9)), assets, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await goTo(page, differenceAt('registry.repos.list', 'unexplained value /items/*/catalog_tier'))
    await page.getByText('v1 has "APPLICATION", v2 has "BASE".').waitFor()
    expect(await page.getByRole('option').allTextContents()).toEqual([expect.stringMatching(/^9 × 2026-03-01 08:00–16:00 by one-caller/)])
    const cells = page.getByRole('table', { name: 'JSON of /items/3 on both sides' }).getByRole('cell')
    expect(await cells.filter({ hasText: 'catalog_tier' }).allTextContents()).toEqual([
      '−differs: "catalog_tier": "APPLICATION"',
      '+differs: "catalog_tier": "BASE"',
    ])
    expect(await cells.filter({ hasText: 'bundles' }).first().textContent()).toBe('~differs too: "bundles": ["application"]')
    await page.getByRole('button', { name: 'Copy the v1 URL' }).press('Enter')
    await page.getByRole('status').filter({ hasText: 'Copied: the v1 URL' }).waitFor({ state: 'attached' })
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^\/registry\/v1\/repos\?uidp\.children_of=[0-9a-f]{40}&limit=9$/)
    await page.getByText('9 equal comparisons of this caller').click()
    expect(await page.locator('.equal li').count()).toBe(9)
    expect(said).toEqual([])
  })

  it('shows every kind of difference on a phone too, without a finding of axe', async () => {
    const { page } = await openFile(browser, await reportOf([...repeated(2), FAILED]), assets)
    const places = EXAMPLES.map(({ kind, where }) => differenceAt('registry.repos.list', `unexplained ${kind} ${where}`))
    for (const [nth, place] of [...places, differenceAt('iam.roles.list', `failed error ${FAILED.reason}`)].entries()) {
      await goTo(page, place)
      await page.locator('.said').waitFor()
      const [width, colorScheme] = nth % 2 === 0 ? ([390, 'dark'] as const) : ([1440, 'light'] as const)
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      const equal = page.locator('.aligned .is-same td.is-v2').first()
      if (nth < 2) expect(await equal.isVisible()).toBe(width === 1440)
      expect(await widthOf(page)).toBeLessThanOrEqual(width)
      expect(await findingsIn(page)).toEqual([])
    }
  })

  const LOOKS = [
    ['light', 1440],
    ['dark', 390],
  ] as const

  it.each(sampled(LOOKS, 2))('has nothing that axe finds in %s colours at %i pixels, everywhere', async (colorScheme, width) => {
    const now = inForce({ circuits: { 'iam.roles.list': 'errors: 3 of the last 9 answers failed' }, rollouts: [ROLLOUT] })
    const running = { ...(await usual()), now, fleet: FLEET }
    const { page, said } = await openFile(browser, running, assets, { colorScheme, viewport: { width, height: 900 } })
    const found: string[] = []
    for (const { route, name } of PLACES) {
      await goTo(page, route)
      await heading(page, name).waitFor()
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
      found.push(...(await findingsIn(page)).map((finding) => `${route} ${finding}`))
      expect(await widthOf(page)).toBeLessThanOrEqual(width)
    }
    expect({ found, said }).toEqual({ found: [], said: [] })
  })

  it('says of which replicas its figures are, and which one is not well', async () => {
    const { page, said } = await openFile(browser, { ...(await reportOf(week(50))), now: inForce(), fleet: FLEET }, assets)
    const missing = page.getByRole('region', { name: 'What is missing' })
    expect(await missing.getByRole('listitem').allTextContents()).toEqual([
      ...FLEET.problems,
      'Replica pod-c-3: 1 version of the modes behind, 40 clean observations dropped.',
    ])
    await page.getByText('2 of 4 replicas not well').click()
    const [here, leader, silent, newer] = await page
      .locator('.strip-more section')
      .filter({ hasText: 'Replicas' })
      .getByRole('listitem')
      .allTextContents()
    expect(here).toMatch(/^pod-a-1 \(this one\) up to date.*nothing waits/)
    expect(leader).toMatch(/^pod-b-2 \(leader\) up to date.*12 observations wait/)
    expect(silent).toMatch(/^pod-c-3 silent.*version 6, last heard from 12 seconds ago, 3 observations wait/)
    expect(newer).toMatch(/^pod-d-4 speaks a newer version/)
    await page.getByText('Counts, verdicts and clients are those of all replicas.').waitFor()
    expect(said).toEqual([])
  })

  it('fits a narrow window and paper', async () => {
    const { page } = await openFile(browser, await reportOf(week(500)), assets, { viewport: { width: 390, height: 800 } })
    expect(await widthOf(page)).toBeLessThanOrEqual(390)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('navigation', { name: 'Report' }).isVisible()).toBe(false)
    expect(await page.getByRole('heading', { name: 'State of every operation' }).isVisible()).toBe(true)
    await page.setViewportSize({ width: 720, height: 1000 })
    expect(await widthOf(page)).toBeLessThanOrEqual(720)
  })

  it('is served by a running proxy, and refreshes without losing the place', async () => {
    const { adminUrl, ask } = await proxy()
    await ask('/iam/v1/groups')
    const { page, said, asked } = await open(browser, `${adminUrl}/report`)
    await page.getByRole('link', { name: 'iam.groups.list' }).click()
    await ask('/iam/v1/groups?limit=1')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('.figures div', { hasText: 'kinds of request' }).getByText('2', { exact: true }).waitFor()
    await heading(page, 'iam.groups.list').waitFor()
    expect({ said, asked: [...new Set(asked)] }).toEqual({ said: [], asked: [`${adminUrl}/report.json`] })
  })

  it('names its proxy and the token of that proxy in its advice', async () => {
    const modes = { default: 'v1' as const, rules: [], testers: [] }
    const free = await proxy({ modes })
    const guarded = await proxy({ modes, 'admin.token': 'the-token-that-changes' })
    const { page } = await open(browser, `${free.adminUrl}/report`)
    await page.getByText('The default mode is v1, in which nothing is compared.').waitFor()
    await page.getByText(`-X PUT ${free.adminUrl}/modes`).waitFor()
    await page.goto(`${guarded.adminUrl}/report`)
    await page.getByLabel('Token').fill('the-token-that-changes')
    await page.getByRole('button', { name: 'Show the report' }).click()
    await page.getByText(`-X PUT ${guarded.adminUrl}/modes`).waitFor()
    await page.getByText('-H "Authorization: Bearer $ADMIN_TOKEN"').waitFor()
  })

  it('asks for the token of a proxy, and keeps it in the tab', async () => {
    const { adminUrl, ask } = await proxy({ 'admin.token': 'the-token-that-changes', 'admin.readToken': 'the-token-that-reads' })
    await ask('/iam/v1/groups')
    const { page, said, asked } = await open(browser, `${adminUrl}/report`)
    await heading(page, 'This report requires a token').waitFor()
    expect(await page.locator('#report').textContent()).toBe('null')
    const token = page.getByLabel('Token')
    await token.fill('not-the-token-at-all')
    await token.press('Enter')
    await page.getByText('The proxy does not know this token.').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await unreadableOn(page)).toEqual([])
    }
    await token.fill('the-token-that-reads')
    await page.getByRole('button', { name: 'Show the report' }).click()
    await page.getByRole('link', { name: 'iam.groups.list' }).click()
    await ask('/iam/v1/groups?limit=1')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('.figures div', { hasText: 'kinds of request' }).getByText('2', { exact: true }).waitFor()
    await page.reload()
    await heading(page, 'iam.groups.list').waitFor()
    expect(new Set(asked)).toEqual(new Set([`${adminUrl}/report.json`]))
    expect(said.filter((line) => !line.includes('401 (Unauthorized)'))).toEqual([])
    expect(await page.evaluate('[location.search, document.cookie, localStorage.length].join()')).toBe(',,0')
    const other = await page.context().newPage()
    await other.goto(`${adminUrl}/report`)
    await heading(other, 'This report requires a token').waitFor()
    await page.evaluate('sessionStorage.clear()')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await heading(page, 'This report requires a token').waitFor()
  })

  it('shows hostile records as text', async () => {
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    const where = `/items/*/${hostile.replaceAll('/', '~1')}`
    const example = { kind: 'value', at: where, where, v1: hostile, v2: { [hostile]: hostile } } as const
    const { page, said, asked } = await openFile(
      browser,
      await reportOf([
        comparison(1, { outcome: 'mismatch', ...shows(example), shape: hostile, reason: hostile, caller: hostile, subject: hostile }),
      ]),
      assets,
    )
    await page.getByRole('link', { name: 'registry.repos.list' }).click()
    await page.locator('table.differences a').click()
    await page.getByRole('table', { name: / on both sides$/ }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.title()).toContain('<img src=x')
    expect({ said, asked }).toEqual({ said: [], asked: [] })
  })
})

function differenceAt(operation: string, difference: string): string {
  return `#/operation/${operation}/${encodeURIComponent(difference)}`
}

const PLACES = [
  { route: '#/operations', name: 'Operations' },
  { route: '#/operation/registry.repos.list', name: 'registry.repos.list' },
  { route: '#/operation/iam.roles.list/unexplained%20missing%20%2Fitems%2F*', name: 'missing: /items/*' },
  { route: '#/clients', name: 'Clients' },
  { route: '#/timeline', name: 'Timeline' },
  { route: '#/declared', name: 'Declared differences' },
]

interface Colours {
  readonly words: string
  readonly text: string
  readonly below: string
}

/** The colours of every text, and of its background. */
const COLOURS = `[...document.querySelectorAll('body *')]
  .filter((element) => !element.closest('svg, script') && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  .map((element) => {
    let below = element
    while (getComputedStyle(below).backgroundColor === 'rgba(0, 0, 0, 0)' && below.parentElement) below = below.parentElement
    return { words: element.textContent.slice(0, 40), text: getComputedStyle(element).color, below: getComputedStyle(below).backgroundColor }
  })`

/** Returns texts whose contrast is too low. */
async function unreadableOn(page: Page): Promise<readonly string[]> {
  const colours = await page.evaluate<readonly Colours[]>(COLOURS)
  expect(colours.length).toBeGreaterThan(5)
  return colours.filter(({ text, below }) => contrast(text, below) < 4.5).map(({ words }) => words)
}

/** WCAG 2.2 contrast of two colours that Chromium computed, `rgb(…)` or `color(srgb …)`. */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const scale = colour.startsWith('rgb') ? 255 : 1
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const value = Number(part) / scale
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
