/** The process from outside. */
export interface Process {
  /** Writes to standard output, and breaks the line. */
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Everything on standard input. */
  readonly stdin: () => Promise<string>
  /** Resolves when the process is asked to stop (SIGTERM, SIGINT). */
  readonly untilStopped: () => Promise<void>
  /** Resolves with an exception that nobody caught, which does not end the process from then on. */
  readonly untilEscaped: () => Promise<unknown>
}

/** What a command sees of the process. `out` and `err` write one line, whatever is in it; only `text` keeps line breaks. */
export interface Io extends Process {
  /** Writes a text of several lines to standard output: JSON, CSV, a program. */
  readonly text: (text: string) => void
}

/** A flag of a command; without `switch` it takes a value. */
export interface Flag {
  readonly help: string
  readonly switch?: true
}

/** The flags given: text, or true for a switch. */
export type Flags = Readonly<Record<string, string | true | undefined>>

/** One command of the command line. */
export interface Command {
  /** The words that call it, with its arguments: `explain 'METHOD /path?query'`. */
  readonly usage: string
  readonly summary: string
  /** Names of required arguments. */
  readonly args?: readonly string[]
  /** The last argument may be given several times. */
  readonly more?: true
  readonly flags: Readonly<Record<string, Flag>>
  /** Returns the exit code: 0 done, 1 failed, 2 wrongly called. */
  readonly run: (flags: Flags, args: readonly string[], io: Io) => Promise<number>
}

/** Exit codes: what was asked for cannot be done, and what was asked for makes no sense. */
export const FAILED = 1
export const MISUSED = 2

/** The text of a flag that takes a value. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}
