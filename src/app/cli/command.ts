import { writeFile } from 'node:fs/promises'
import { isMisuse, isSystemError, named, systemReason } from '../../errors.ts'
import type { Tables } from '../../tables/tables.ts'
import type { ProgressScreen } from './terminal.ts'

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
  /** Is called when a command runs that stays: lines that standard output loses are then no failure. */
  readonly onStay?: () => void
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

/** Prints an answer: as JSON if `--json` asks for it, otherwise as lines. */
export function print(io: Io, flags: Flags, answer: unknown, lines: () => readonly string[]): void {
  if (flags.json) io.text(JSON.stringify(answer, null, 2))
  else for (const line of lines()) io.out(line)
}

/** Writes a text of several lines to a file and says so; to standard output if no file is given. Returns the exit code. */
export async function writeText(io: Io, text: string, file: string | undefined): Promise<number> {
  if (file === undefined) io.text(text.trimEnd())
  else {
    await writeFile(file, text).catch((error: unknown) => {
      throw named(error, file)
    })
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

/** What the system says of a file that a command was given, and that is not there, is of another kind or may not be opened. */
const WRONG_FILE: ReadonlySet<string | undefined> = new Set('ENOENT ENOTDIR EISDIR EACCES EPERM EROFS ENAMETOOLONG ELOOP'.split(' '))

/** Returns the exit code of a command that ends with an error: 2 if what it was given is wrong, 1 otherwise. */
export function exitCodeOf(error: unknown): number {
  const { path, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return isMisuse(error) || (path !== undefined && WRONG_FILE.has(code)) ? MISUSED : FAILED
}

/** Describes a failure in lines: one sentence for what the user can fix; the stack as well for a fault of the program. */
export function failureLines(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)]
  const { code, port, address, syscall, path, hostname } = error as NodeJS.ErrnoException &
    Partial<Record<'address' | 'hostname', string>> & { port?: number }
  if (code === 'EADDRINUSE') return [`Port ${port} of ${address} is taken; stop what listens there or choose another port (0 = any).`]
  if (code === 'EACCES' && syscall === 'listen')
    return [`Port ${port} of ${address} may not be opened by this user; choose one above 1023.`]
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return [`${address ?? hostname ?? error.message} is not an address of this machine; give one of its addresses, or 0.0.0.0 for all.`]
  if (path !== undefined && isSystemError(error))
    return [`${path} cannot be ${code === 'ENOSPC' ? 'written' : 'opened'}: ${systemReason(Object.assign(error, { path: undefined }))}.`]
  if (isSystemError(error)) return [sentence(systemReason(error))]
  return code === undefined && error.name !== 'Error' ? [`${error.name}: ${error.message}`, ...callsOf(error)] : [error.message]
}

/** Drops the message, which opens the stack and may span several lines. */
function callsOf({ stack = '' }: Error): readonly string[] {
  return stack.split('\n').filter((line) => line.startsWith('    at '))
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** The first version of each line without collisions of integer-like strings in V8's hash tables (CVE-2026-21717). */
const MENDED: Readonly<Record<number, string>> = { 22: '22.22.2', 24: '24.14.1', 25: '25.8.2' }

/** This version alone aborts on an unsolicited PING ACK followed by a body. Every `http2.createServer()` is affected. */
const ABORTED = 'v22.23.3'

/** Returns one sentence if this Node (`process.version`) lacks security fixes that a proxy needs, otherwise undefined. */
export function lacksFixes(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = numbersIn(version)
  if (major === 20) return `Node ${version.slice(1)} has had no security fixes since April 2026; Node 24 is recommended`
  if (version === ABORTED)
    return `one packet over HTTP/2 ends every server on Node ${version.slice(1)}; 22.23.2 and Node 24 do not have that fault`
  const mended = MENDED[major]
  const [, since = 0, from = 0] = numbersIn(mended ?? '')
  if (mended === undefined || minor > since || (minor === since && patch >= from)) return undefined
  return `on Node ${version.slice(1)} one request of ten thousand numbers as texts stops everybody for a tenth of a second; ${mended} has the fix`
}

function numbersIn(version: string): readonly number[] {
  return version.replace(/^v/, '').split('.').map(Number)
}

type Signals = Pick<Process, 'untilStopped' | 'onHangup'>

/**
 * Listens to signals from now on, for a command that runs until it is stopped. What is asked for while it starts is done once it has:
 * without a listener, a signal would end the process at once.
 */
export function heededSignals({ untilStopped, onHangup }: Signals, heeds: 'SIGHUP' | undefined): Signals {
  const stopped = untilStopped()
  if (heeds === undefined || !onHangup) return { untilStopped: () => stopped }
  let isDue = false
  let take = () => {
    isDue = true
  }
  onHangup(() => take())
  return {
    untilStopped: () => stopped,
    onHangup(listener) {
      take = listener
      if (isDue) listener()
    },
  }
}
