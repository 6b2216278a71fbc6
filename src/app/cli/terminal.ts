import { styleText } from 'node:util'
import { escaped, oneLine, UNSEEN } from '../../tables/json.ts'
import type { Io, Process } from './command.ts'

type Style = Parameters<typeof styleText>[0]

/** How the beginning of a line looks. What is said never depends on it. */
const STYLES: readonly (readonly [begins: RegExp, style: Style])[] = [
  [/^ {2}ok {2,}/, 'green'],
  [/^ {2}no {2,}/, 'red'],
  [/^ {2}(?:v1|--) {3,}/, 'yellow'],
  [/^(?:READY|Ready)\b/, 'green'],
  [/^(?:NOT READY|Not ready|Not known)\b/, 'red'],
  [/^event (?=\S+, subject )/, 'cyan'],
]

/** The title of a part of a text: `Run:`, `upstream - The services behind the proxy:`. */
const TITLE = /^[A-Za-z][^\n]*:$/gm

/** Whether a stream gets colours: NO_COLOR forbids and FORCE_COLOR asks for them; without either, only a terminal gets them. */
export function isColoured(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  if (env.NO_COLOR) return false
  return isTerminal && env.TERM !== 'dumb'
}

/** Colours the beginning of a line that is safe to print. */
export function colouredLine(line: string): string {
  const found = STYLES.find(([begins]) => begins.test(line))
  return found ? line.replace(found[0], (text) => styled(found[1], text)) : line
}

/** Makes the titles of a help text bold. */
function colouredHelp(text: string): string {
  return text.replaceAll(TITLE, (title) => styled('bold', title))
}

/** `isColoured` has decided, so that Node need not look at a stream. */
function styled(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false })
}

/** The longest line of a text for people. */
export const LINE = 100

/** Breaks a text between words into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Wraps a text behind the beginning of its first line. */
export function hung(begin: string, text: string): readonly string[] {
  return wrapped(text, LINE - begin.length).map((line, at) => `${at === 0 ? begin : ' '.repeat(begin.length)}${line}`)
}

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

const BREAKS: ReadonlySet<string> = new Set(['\t', '\n', '\r\n'])

function severalLines(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (BREAKS.has(found) ? found : escaped(found)))
}

/** Milliseconds before anything is shown: shorter work needs no progress. */
const PATIENCE = 2000

/** Milliseconds between two updates. */
const EVERY = 500

/** Returns to the beginning of the line and clears it. */
const CLEAR = '\r\u001b[2K'

/** Where progress is shown: a terminal on standard error. */
export interface ProgressScreen {
  readonly write: (text: string) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Calls a function again and again; the returned one stops that. */
  readonly every: (ms: number, look: () => void) => () => void
}

/** Shows what is done and for how long while work takes more than two seconds, in one line that is cleared at the end. */
export async function withProgress<T>(screen: ProgressScreen | undefined, what: string, work: () => Promise<T>): Promise<T> {
  if (!screen) return work()
  const began = screen.now()
  let isShown = false
  const stop = screen.every(EVERY, () => {
    const ms = screen.now() - began
    if (ms < PATIENCE) return
    isShown = true
    screen.write(`${CLEAR}${what}, ${Math.floor(ms / 1000)} s`)
  })
  try {
    return await work()
  } finally {
    stop()
    if (isShown) screen.write(CLEAR)
  }
}
