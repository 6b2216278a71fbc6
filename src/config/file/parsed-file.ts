/** The path of a member: names of objects, numbers of lists. */
export type MemberPath = readonly (string | number)[]

/** What a file holds. */
export interface ParsedFile {
  readonly value: unknown
  /** Returns where a member begins, as `3:9`: line 3, column 9. Undefined if the file has no such member. */
  placeOf(path: MemberPath): string | undefined
}

/** A parsed file, or what is wrong with its text, as the end of a sentence. It quotes nothing, because the text may hold a token. */
export type Parsed = ParsedFile | { readonly wrong: string }

/** Returns the line and the column of an offset, both from 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - start + 1 }
}

/** Returns `line 3, column 9: …`. */
export function wrongAt(text: string, offset: number, what: string): string {
  const { line, column } = lineAndColumn(text, offset)
  return `line ${line}, column ${column}: ${what}`
}
