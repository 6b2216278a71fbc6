import { existsSync, readFileSync } from 'node:fs'

/** The files that `npm run build` makes from `web/`. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** The folder of the build output, as seen from the sources and from the build output itself. */
const FOLDERS = ['../../../dist/web/', '../../../web/']

/** Reads the script and the style of the page. Throws a sentence if they were not built. */
export function readAssets(): PageAssets {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(new URL('page.js', url)))
  if (!folder) throw new Error('The page of the report was not built; run npm run build.')
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
  // Neither a script nor a style may contain the text that ends its element.
  return { script: read('page.js').replaceAll('</script', '<\\/script'), style: read('page.css').replaceAll('</style', '<\\/style') }
}
