import type { Io, Process } from '../command.ts'
import { colouredHelp, colouredLine, isColoured } from './colours.ts'

/** Control and format characters (escape sequences, bidirectional overrides) and line breaks: a terminal obeys or hides them. */
const UNSEEN = /\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Wraps the process so that no printed text can act on its terminal: output may contain text that strangers chose. Colours come after. */
export function printable(outside: Process): Omit<Io, 'tables'> {
  const hasColours = isColoured(outside.env, outside.isTerminal === true)
  const shown = hasColours ? colouredLine : (line: string) => line
  return {
    ...outside,
    out: (line) => outside.out(shown(oneLine(line))),
    err: (line) => outside.err(oneLine(line)),
    help: (text) => outside.out(hasColours ? colouredHelp(text) : text),
    text: (text) => outside.out(severalLines(text)),
  }
}

/** Escapes a text to one line: `\u001b` for an escape character, `\u000a` for a line break. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (found === '\t' ? found : written(found)))
}

const BREAKS: ReadonlySet<string> = new Set(['\t', '\n', '\r\n'])

function severalLines(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (BREAKS.has(found) ? found : written(found)))
}

/** Uses the escapes of JSON, JavaScript and TypeScript, so that the text keeps its value there. */
function written(found: string): string {
  return Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
}
