/** What went wrong, line by line: one sentence for what a person can mend; a fault of ours also tells the calls that led to it. */
export function failureLines(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)]
  const { code, port, address, syscall } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE') return [`Port ${port} of ${address} is taken; stop what listens there or choose another port (0 = any).`]
  if (code === 'EACCES' && syscall === 'listen')
    return [`Port ${port} of ${address} may not be opened by this user; choose one above 1023.`]
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return [`${address ?? error.message} is not an address of this machine.`]
  return code === undefined && error.name !== 'Error' ? [`${error.name}: ${error.message}`, ...callsOf(error)] : [error.message]
}

/** The message, which stands first in the stack, may be of several lines. */
function callsOf({ stack = '' }: Error): readonly string[] {
  return stack.split('\n').filter((line) => line.startsWith('    at '))
}
