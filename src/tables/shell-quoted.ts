/** Returns a text between single quotes, as one word of a shell: `it's` → `'it'\''s'`. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
