/** The reason, by system error code, why a file that the user named cannot be opened. */
const FILE_HINDRANCES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not',
  ENOTDIR: 'its folder is a file',
}

/** Describes a failure in lines: one sentence for what the user can fix; the stack as well for a fault of the program. */
export function failureLines(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)]
  const { code, port, address, syscall, path } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE') return [`Port ${port} of ${address} is taken; stop what listens there or choose another port (0 = any).`]
  if (code === 'EACCES' && syscall === 'listen')
    return [`Port ${port} of ${address} may not be opened by this user; choose one above 1023.`]
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return [`${address ?? error.message} is not an address of this machine.`]
  const hindrance = path === undefined ? undefined : FILE_HINDRANCES[code ?? '']
  if (hindrance !== undefined) return [`${path} cannot be opened: ${hindrance}.`]
  return code === undefined && error.name !== 'Error' ? [`${error.name}: ${error.message}`, ...callsOf(error)] : [error.message]
}

/** Drops the message, which opens the stack and may span several lines. */
function callsOf({ stack = '' }: Error): readonly string[] {
  return stack.split('\n').filter((line) => line.startsWith('    at '))
}
