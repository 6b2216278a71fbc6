import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildAssets } from '../../docs/site/assets.ts'
import { makeSite } from '../../docs/site/make-site.ts'
import { findingsIn, hasChromium, OF_LOOKS, open, openBrowser } from '../report/browser.ts'
import { siteTables } from './site-tables.ts'

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
    for (const [path, content] of [...(await makeSite(process.cwd(), siteTables)), ...(await buildAssets(process.cwd()))]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
  })
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  })

  it.each(SHOWN)('has nothing that axe finds in %s, on a wide screen and on a phone, and no line beyond the edge', async (path) => {
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
  })
})
