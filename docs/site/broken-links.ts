import { posix } from 'node:path'

/** A file of the site by its path. Pages are text. */
export type SiteFiles = ReadonlyMap<string, string | Uint8Array>

const REFERENCE = /<[a-z][^>]*?\s(?:href|src)="([^"]*)"/g
const ID = /<[a-z][^>]*?\sid="([^"]*)"/g

/** Returns a sentence about every link of the site that leads nowhere: to no file, or to no part of a page. */
export function brokenLinks(files: SiteFiles): readonly string[] {
  const pages = [...files].flatMap(([path, content]) => (path.endsWith('.html') && typeof content === 'string' ? [{ path, content }] : []))
  const ids = new Map(pages.map(({ path, content }) => [path, new Set([...content.matchAll(ID)].map(([, id]) => id))]))
  return pages.flatMap(({ path, content }) =>
    [...new Set([...content.matchAll(REFERENCE)].map(([, target = '']) => target.replaceAll('&amp;', '&')))].flatMap((target) => {
      const fault = faultOf(path, target, files, ids)
      return fault === undefined ? [] : [`${path}: ${target} ${fault}`]
    }),
  )
}

function faultOf(
  page: string,
  target: string,
  files: SiteFiles,
  ids: ReadonlyMap<string, ReadonlySet<string | undefined>>,
): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined
  if (target.startsWith('/')) return 'begins at the root of a server'
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path))
  if (!files.has(file)) return 'leads to no file'
  if (anchor === undefined || ids.get(file)?.has(decodeURIComponent(anchor))) return undefined
  return 'leads to no part of that page'
}
