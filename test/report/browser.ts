import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { Report } from '../../src/admin/report/report.ts'
import { type PageAssets, pageOf } from '../../src/admin/report-page.ts'
import { folder } from './given.ts'

const CHROMIUM = '/usr/bin/chromium'

/** False, with a printed reason, if there is no browser. */
export function hasChromium(): boolean {
  if (existsSync(CHROMIUM)) return true
  console.warn('SKIPPED: chromium is not installed')
  return false
}

export function openBrowser(...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] })
}

/** An opened page, and everything that it should not have done. */
export interface Opened {
  readonly page: Page
  /** Console messages and errors. */
  readonly said: readonly string[]
  /** Addresses that it requested, besides its own. */
  readonly asked: readonly string[]
}

/** Opens an address. The page is closed after the test. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const [said, asked]: [string[], string[]] = [[], []]
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) asked.push(request.url())
  })
  await page.goto(url)
  return { page, said, asked }
}

/** Opens the report as a file. */
export async function openFile(browser: Browser, report: Report, assets: PageAssets, options?: BrowserContextOptions): Promise<Opened> {
  const path = join(await folder(), 'report.html')
  await writeFile(path, pageOf(report, assets).html)
  return open(browser, pathToFileURL(path).href, options)
}

/** Returns what axe finds in a page by these rules, or by all of them. */
export async function findingsIn(page: Page, runOnly?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (rules): Promise<readonly string[]> => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is in the page, where nothing knows its types
    const { violations } = await (globalThis as any).axe.run(rules ? { runOnly: rules } : {})
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`)
  }, runOnly)
}

/** The rules of axe that a narrow screen and another theme can break. */
export const OF_LOOKS = ['color-contrast', 'scrollable-region-focusable', 'target-size', 'link-in-text-block']
