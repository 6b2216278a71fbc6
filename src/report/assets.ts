import { existsSync, readFileSync } from 'node:fs'

/** What `npm run build` makes of `web/`. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** From the build output, seen from the sources or from the build output itself. */
const FOLDERS = ['../../dist/web/', '../../web/']

/** Reads script and style of the page; throws a sentence when they were not built. */
export function readAssets(): PageAssets {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(new URL('page.js', url)))
  if (!folder) throw new Error('The page of the report was not built; run npm run build.')
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
  // A script may not hold the text that ends its element, nor a style.
  return { script: read('page.js').replaceAll('</script', '<\\/script'), style: read('page.css').replaceAll('</style', '<\\/style') }
}
