/** A piece of text: plain, code, or a word that stands out. */
export type Inline = string | { readonly code: string } | { readonly strong: string }

export type Text = readonly Inline[]

/** A part of a document, without a form. */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4; readonly text: Text }
  | { readonly kind: 'text'; readonly text: Text }
  | { readonly kind: 'list'; readonly items: readonly Text[]; readonly boxes?: true }
  | { readonly kind: 'table'; readonly label: string; readonly head: readonly string[]; readonly rows: readonly (readonly Text[])[] }
  | { readonly kind: 'shell'; readonly lines: readonly string[] }

/** Reads our own prose: what stands between backticks is code. Never pass it a text that a client chose. */
export function prose(text: string): Text {
  return text.split('`').flatMap((part, at): Inline[] => (part === '' ? [] : [at % 2 === 1 ? { code: part } : part]))
}

export function code(text: string): Inline {
  return { code: text }
}

/** Returns names as code with commas between them. */
export function codes(names: readonly string[]): Text {
  return names.flatMap((name, at): Inline[] => (at === 0 ? [code(name)] : [', ', code(name)]))
}
