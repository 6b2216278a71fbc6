import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { hasChromium, open, openBrowser } from '../../admin/report-stage.ts'
import { startStage } from '../../stage/stage.ts'

const SIZE = { width: 1200, height: 760 }
const MOST_BYTES = 150_000

/** What five clients could ask in a week. */
const QUERIES = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?order_by=name+desc']
const PATHS = [
  ...['/iam/v1/groups', '/iam/v1/roles', '/iam/v1/identities', '/iam/v1/rolebindings', '/registry/v1/repos', '/libraries/v1/entitlements'],
]

/** The words of a page without its numbers, which differ from run to run. */
const wordsOf = (text: string) =>
  [
    ...new Set(
      text
        .replace(/\d[\d,.:]*/g, '0')
        .replace(/0 (second|minute)s?/g, '0 s')
        .split('\n')
        .map((line) => line.trim()),
    ),
  ].join('\n')

/**
 * The pictures of the documents, from a proxy that compares. It fails if the page says other words than when they were taken;
 * `npm run pictures -- -u` takes them anew.
 */
it.skipIf(!hasChromium())('shows in the pictures what the report says today', async () => {
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const modes = { default: 'diff-v1' as const, rules: [], testers: [] }
  const stage = await startStage({ proxy: { modes, 'diff.perSecond': 0, 'diff.waiting': 1000, 'log.level': 'silent' } })
  onTestFinished(() => stage.close())
  await stage.fault({ match: 'GET /iam/v2/roles', times: 20, change: { at: '/roles/0/name', to: 'other' } })
  for (const token of Object.values(stage.sandbox.tokens)) {
    for (const path of PATHS) for (const query of QUERIES) await stage.request('GET', path + query, { token })
    await stage.idle()
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await open(browser, `${stage.adminUrl}/report`, { viewport: SIZE, colorScheme, reducedMotion: 'reduce' })
    await page.getByRole('link', { name: 'iam.roles.list' }).first().waitFor()
    // biome-ignore lint/performance/useDomNodeTextContent: only what a reader sees
    const text = await page.locator('body').innerText()
    await expect(`${wordsOf(text)}\n`).toMatchFileSnapshot('words.txt')
    const file = new URL(`../../../docs/images/report${colorScheme === 'dark' ? '-dark' : ''}.png`, import.meta.url)
    const taken = await page.screenshot()
    if (process.env.PICTURES === 'take') writeFileSync(file, taken)
    const kept = readFileSync(file)
    expect([kept.readUInt32BE(16), kept.readUInt32BE(20)]).toEqual([SIZE.width, SIZE.height])
    expect(kept.length).toBeLessThan(MOST_BYTES)
  }
})

const DIAGRAMS = ['architecture.svg', 'migration.svg']

interface Place {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly text: string
}

const meet = (a: Place, b: Place) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
const isInside = (a: Place, b: Place) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom

it.skipIf(!hasChromium()).each(DIAGRAMS)(
  'keeps every text of docs/images/%s in the picture, in its box and apart from others',
  async (name) => {
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const { page } = await open(browser, pathToFileURL(`docs/images/${name}`).href, { viewport: { width: 860, height: 320 } })
    const placesOf = (selector: string) =>
      page.evaluate<Place[]>(`[...document.querySelectorAll('${selector}')].map((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect()
      return { left, right, top, bottom, text: element.textContent }
    })`)
    const [[picture] = [], boxes = [], texts = []] = await Promise.all(['.back', '.box, .own', 'text'].map(placesOf))
    expect(texts.length).toBeGreaterThan(10)
    const isMisplaced = (one: Place) =>
      !isInside(one, picture as Place) ||
      boxes.some((box) => meet(one, box) && !isInside(one, box)) ||
      texts.some((other) => other !== one && meet(one, other))
    expect(texts.filter(isMisplaced).map(({ text }) => text)).toEqual([])
  },
)
