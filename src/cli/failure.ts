/** One sentence for what went wrong; what a person can mend is said plainly, a fault of ours keeps its stack. */
export function failure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, port, address, syscall } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE') return `Port ${port} of ${address} is taken by another process; stop it or choose another port (0 = any).`
  if (code === 'EACCES' && syscall === 'listen') return `Port ${port} of ${address} may not be opened by this user; choose one above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${address ?? error.message} is not an address of this machine.`
  return code === undefined && error.name !== 'Error' ? (error.stack ?? error.message) : error.message
}
