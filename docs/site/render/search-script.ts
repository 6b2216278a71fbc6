import type { DrawnPage } from '../page.ts'

/** A part of a page as the search reads it: its address, its page, its heading and its text. */
export type FoundPart = readonly [path: string, title: string, heading: string, text: string]

/** Longer texts are cut: a table of a thousand rows is found by its first ones and by its heading. */
const LONGEST = 4000

/** Returns the script that the search loads when somebody begins to type. A script, because a page on a disk may load no data. */
export function searchScript(pages: readonly DrawnPage[]): string {
  const parts = pages.flatMap(({ path, title, sections }) =>
    sections.map(({ id, heading, text }): FoundPart => [id === '' ? path : `${path}#${id}`, title, heading, text.slice(0, LONGEST)]),
  )
  return `globalThis.crosswalkParts = ${JSON.stringify(parts)}\n`
}
