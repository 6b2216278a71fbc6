import { styleText } from 'node:util'

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
export function colouredHelp(text: string): string {
  return text.replaceAll(TITLE, (title) => styled('bold', title))
}

/** `isColoured` has decided, so that Node need not look at a stream. */
function styled(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false })
}
