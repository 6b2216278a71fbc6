import { posix } from 'node:path'
import { from, type SourcePage } from '../page.ts'

/** What links lead to. */
export interface Targets {
  /** The place on the site of each Markdown file. */
  readonly places: ReadonlyMap<string, string>
  /** Code that stands for a place: an operation, a setting, the code of a difference. A place may end with an anchor. */
  readonly terms: ReadonlyMap<string, string>
  /** Whether the repository has such a file. */
  readonly isFile: (path: string) => boolean
  /** The address of a file of the repository; undefined if nothing says where the repository is. */
  readonly fileUrl: (path: string) => string | undefined
}

/** Returns a link of a page as the site has it; undefined if it leads to a file that the site cannot show. */
export function linkOf(page: SourcePage, href: string, targets: Targets): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(href) || href.startsWith('#')) return href
  const [path = '', anchor] = href.split('#')
  const file = posix.normalize(posix.join(posix.dirname(page.source), decodeURI(path)))
  const place = targets.places.get(file)
  if (place !== undefined) return `${from(page.path, place)}${anchor === undefined ? '' : `#${anchor}`}`
  // What is nowhere stays as it is: the check of the links names it.
  return targets.isFile(file) ? targets.fileUrl(file) : href
}

/** Returns the way to what a piece of code stands for; undefined if it stands for nothing, or for this page. */
export function termLink(page: SourcePage, code: string, { terms }: Targets): string | undefined {
  const place = terms.get(code)
  if (place === undefined) return undefined
  const [path = '', anchor] = place.split('#')
  if (path !== page.path) return from(page.path, place)
  return anchor === undefined ? undefined : `#${anchor}`
}
