import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationGuide } from '../../src/tools/guide.ts'
import { guideBlocks, htmlPage } from '../../src/tools/guide-pages.ts'
import { findingsIn, hasChromium, OF_LOOKS, open, openBrowser } from '../report/browser.ts'
import { folder } from '../report/given.ts'
import { contextOf, operations } from './guides.ts'

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
