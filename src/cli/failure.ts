import { isSystemError, systemReason } from '../errors/system-reason.ts'

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
