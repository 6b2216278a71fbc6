import { writeFile } from 'node:fs/promises'
import type { Tables } from '../tables/tables.ts'
import type { ProgressScreen } from './terminal/progress.ts'

/** The process as a command sees it from outside. */
export interface Process {
  /** Writes to standard output and ends the line. */
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Resolves with all of standard input. */
  readonly stdin: () => Promise<string>
  /** The bytes of standard input as they come. Without it, a command takes the text of `stdin`. */
  readonly input?: AsyncIterable<Uint8Array>
  /** Resolves when the process receives SIGTERM or SIGINT. */
  readonly untilStopped: () => Promise<void>
  /** Resolves with an uncaught exception. From then on such an exception does not end the process. */
  readonly untilEscaped: () => Promise<unknown>
  /** Standard output is a terminal. */
  readonly isTerminal?: boolean
  /** Where progress is shown, if standard error is a terminal. */
  readonly screen?: ProgressScreen | undefined
  /** Calls a function at each SIGHUP, which otherwise ends the process. */
  readonly onHangup?: (listener: () => void) => void
}

/** The process as commands use it. `out` and `err` escape everything to one line; only `text` keeps line breaks. */
export interface Io extends Process {
  /** Writes text of several lines to standard output: JSON, CSV, a program. */
  readonly text: (text: string) => void
  /** Writes a text of this program about itself. */
  readonly help: (text: string) => void
  /** The tables that the settings name, or those of this package. Rejects with a misuse. */
  readonly tables: () => Promise<Tables>
}

/** A flag of a command. It takes a value unless `switch` is set. */
export interface Flag {
  readonly help: string
  readonly switch?: true
  /** It may be given several times. */
  readonly more?: true
  /** What help calls the value: `MS`, `FILE`. The default is VALUE. */
  readonly value?: string
  /** Words that the value may be. Help and completions list them. */
  readonly choices?: readonly string[]
  /** Every value that is none of `choices` is refused before the command runs. */
  readonly only?: true
  /** The environment variable that says the same. */
  readonly env?: string
  /** Its group in help. The flags without one come first. */
  readonly group?: string
}

/** The given flags: a text, or true for a switch, or the texts of a flag that may be given several times. */
export type Flags = Readonly<Record<string, string | true | readonly string[] | undefined>>

/** One command. */
export interface Command {
  /** How to call it, with its arguments: `explain 'METHOD /path?query'`. */
  readonly usage: string
  readonly summary: string
  /** Names of required arguments. */
  readonly args?: readonly string[]
  /** Names of arguments that may follow them. */
  readonly optional?: readonly string[]
  /** The last argument may be repeated. */
  readonly more?: true
  readonly flags: Readonly<Record<string, Flag>>
  /** It runs until it is stopped. What SIGTERM, SIGINT or one of these signals asks for while it starts is done once it has. */
  readonly stays?: { readonly heeds?: 'SIGHUP' }
  /** Returns the exit code: 0 done, 1 failed, 2 misused, 3 not everything could be read. */
  readonly run: (flags: Flags, args: readonly string[], io: Io) => Promise<number>
}

/** Exit codes: the request failed or its answer is no, the request made no sense, or not everything that it needs could be read. */
export const FAILED = 1
export const MISUSED = 2
export const UNREAD = 3

/** Says in one sentence why a command ends, and returns its exit code. */
export function endWith(io: Io, code: number, problem: string): number {
  io.err(problem)
  return code
}

/** Writes a text of several lines to a file and says so; to standard output if no file is given. Returns the exit code. */
export async function writeText(io: Io, text: string, file: string | undefined): Promise<number> {
  if (file === undefined) io.text(text.trimEnd())
  else {
    await writeFile(file, text)
    io.out(`written to ${file}`)
  }
  return 0
}

/** The text of a flag that takes a value. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** The texts of a flag that may be given several times. */
export function textsOf(flags: Flags, name: string): readonly string[] {
  const value = flags[name]
  return Array.isArray(value) ? value : []
}
