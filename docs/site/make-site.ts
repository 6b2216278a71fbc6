import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SiteFiles } from './broken-links.ts'
import { COMMANDS_PAGE, commandsPage } from './generated/commands-page.ts'
import { OPERATIONS, operationPages, sourceOf } from './generated/operation-pages.ts'
import { SETTINGS_PAGE, settingsPage } from './generated/settings-page.ts'
import type { SiteTables } from './generated/site-tables.ts'
import { termsOf } from './generated/terms.ts'
import { longEnums, VALUES_PAGE, valuesPage } from './generated/values-page.ts'
import { type DrawnPage, placeOf, type SourcePage } from './page.ts'
import { createDrawPage } from './render/draw-page.ts'
import { layout } from './render/layout.ts'
import type { Targets } from './render/links.ts'
import { searchScript } from './render/search-script.ts'
import { documents } from './sources/documents.ts'
import { type Group, groupsOf } from './sources/navigation.ts'

/** The page whose headings and links are the navigation. */
const MAP = 'docs/README.md'

const IMAGE = /<img [^>]*src="([^":]+)"/g

/**
 * Makes every file of the site but its scripts and its style: the documents as they lie in the repository, the pages from the tables, and
 * what the search reads. `root` is the folder of the repository.
 */
export async function makeSite(root: string, tables: SiteTables): Promise<SiteFiles> {
  const sources = [...documents(root), ...(await generated(tables))]
  const targets = targetsOf(root, sources, tables)
  const draw = createDrawPage()
  const drawn = sources.map((page) => draw(page, targets))
  const frame = { places: targets.places, version: manifest(root).version }
  const map = sources.find(({ source }) => source === MAP)
  const groups = map ? groupsOf(map) : []
  const further = furtherGroup(groups, drawn)
  const pages = drawn.map(
    (page) => [page.path, layout(page, { ...frame, groups: [...groups, ...further, ...generatedGroups(page, drawn, tables)] })] as const,
  )
  return new Map<string, string | Uint8Array>([...pages, ['assets/search-data.js', searchScript(drawn)], ...images(root, drawn)])
}

async function generated(tables: SiteTables): Promise<readonly SourcePage[]> {
  const page = (source: string, markdown: string) => ({ source, path: placeOf(source), markdown })
  return [
    ...operationPages(tables),
    page(VALUES_PAGE, valuesPage(longEnums(tables))),
    page(SETTINGS_PAGE, settingsPage()),
    page(COMMANDS_PAGE, await commandsPage()),
  ]
}

function targetsOf(root: string, sources: readonly SourcePage[], tables: SiteTables): Targets {
  const { repository } = manifest(root)
  const url = (typeof repository === 'string' ? repository : repository?.url)?.replace(/^git\+/, '').replace(/\.git$/, '')
  return {
    places: new Map(sources.map(({ source, path }) => [source, path])),
    terms: termsOf(tables),
    isFile: (path) => !path.startsWith('..') && existsSync(join(root, path)),
    fileUrl: (path) => (url?.startsWith('https:') ? `${url}/blob/HEAD/${path}` : undefined),
  }
}

interface Manifest {
  readonly version: string
  readonly repository?: string | { readonly url: string }
}

function manifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
}

/** The documents that the map does not name. */
function furtherGroup(groups: readonly Group[], drawn: readonly DrawnPage[]): readonly Group[] {
  const named = new Set(groups.flatMap(({ entries }) => entries.map(({ source }) => source)))
  const others = drawn.filter(({ source }) => source.startsWith('docs/') && source !== MAP && !named.has(source))
  return others.length === 0 ? [] : [{ title: 'Further pages', entries: others.map(({ title, source }) => ({ title, source })) }]
}

/** The groups of the navigation that the tables make. An operation shows its neighbours. */
function generatedGroups(page: DrawnPage, drawn: readonly DrawnPage[], { mappings }: SiteTables): readonly Group[] {
  const named = [OPERATIONS, VALUES_PAGE, SETTINGS_PAGE, COMMANDS_PAGE]
  const entries = named.flatMap((source) => drawn.filter((one) => one.source === source).map(({ title }) => ({ title, source })))
  const domain = mappings.find(({ operations }) => operations.some((operation) => sourceOf(operation) === page.source))
  const neighbours = domain?.operations.map((operation) => ({ title: operation.id, source: sourceOf(operation) })) ?? []
  return [{ title: 'From the tables', entries }, ...(domain ? [{ title: `Operations: ${domain.domain}`, entries: neighbours }] : [])]
}

/** The pictures that pages show, beside them. */
function images(root: string, drawn: readonly DrawnPage[]): readonly (readonly [string, Uint8Array])[] {
  const paths = new Set(drawn.flatMap(({ path, html }) => [...html.matchAll(IMAGE)].map(([, src = '']) => join(path, '..', src))))
  return [...paths]
    .filter((path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile())
    .map((path) => [path, readFileSync(join(root, path))])
}
