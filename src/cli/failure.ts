import { isMisuse, isSystemError, systemReason } from '../errors.ts'
import { FAILED, MISUSED } from './command.ts'

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
    return [`${path} cannot be opened: ${systemReason(Object.assign(error, { path: undefined }))}.`]
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
