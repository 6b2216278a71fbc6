import type { Io, Process } from './command.ts'

/** What a terminal obeys or hides instead of showing it: control and format characters (escape sequences, turned writing), breaks of lines. */
const UNSEEN = /\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The same process, told of nothing that could act on its terminal: what is printed may hold texts that strangers chose. */
export function printable(outside: Process): Io {
  return {
    ...outside,
    out: (line) => outside.out(oneLine(line)),
    err: (line) => outside.err(oneLine(line)),
    text: (text) => outside.out(severalLines(text)),
  }
}

/** A text that cannot be more than one line: `\u001b` is written for an escape character, `\u000a` for a line break. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (found === '\t' ? found : written(found)))
}

const BREAKS: ReadonlySet<string> = new Set(['\t', '\n', '\r\n'])

function severalLines(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (BREAKS.has(found) ? found : written(found)))
}

/** As JSON, JavaScript and TypeScript write it in a text, so that the value of the text stays the same there. */
function written(found: string): string {
  return Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
}
