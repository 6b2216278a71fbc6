/** Why the system refused, by its code, and what a person can do where that is not plain. `at` is the file or the address, if it is known. */
const REASONS: Readonly<Record<string, (at: string) => string>> = {
  ENOENT: (at) => `there is no such file or folder${at}`,
  EACCES: (at) => `this user may not open it${at}; change its rights, or run as another user`,
  EPERM: (at) => `this user may not do that${at}; change its rights, or run as another user`,
  EISDIR: (at) => `it is a folder${at}; name a file`,
  ENOTDIR: (at) => `a folder of its path is a file${at}`,
  ENOSPC: (at) => `the disk is full${at}`,
  EROFS: (at) => `its file system is read-only${at}`,
  EMFILE: (at) => `this process has too many open files${at}; raise LimitNOFILE or ulimit -n`,
  ENAMETOOLONG: (at) => `its name is too long${at}`,
  ELOOP: (at) => `its links lead in a circle${at}`,
  ECONNREFUSED: (at) => `nothing listens${at}`,
  EPIPE: (at) => `the connection was broken${at}`,
  ECONNRESET: (at) => `the connection was broken${at}`,
  ETIMEDOUT: (at) => `nothing answered in time${at}`,
  EHOSTUNREACH: (at) => `no way leads there${at}`,
  ENETUNREACH: (at) => `no way leads there${at}`,
  ENOTFOUND: (at) => `no machine has that name${at}`,
  EAI_AGAIN: (at) => `the name cannot be looked up now${at}`,
}

type SystemError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number; readonly hostname?: string }

/** Returns the end of a sentence about an error of the system, without its code; the message of any other error. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '', path, address, port, hostname } = error as SystemError
  const reason = REASONS[code] ?? REASONS[codeIn(error.message)]
  if (!reason) return error.message || code || error.name
  const host = address?.includes(':') ? `[${address}]` : address
  const at = path ?? hostname ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return reason(at === undefined ? '' : ` (${at})`)
}

/** Libraries put the message of the system into one of their own, without its code: `Last error: connect ECONNREFUSED 127.0.0.1:6379`. */
function codeIn(message: string): string {
  return /\bE[A-Z_]{3,}\b/.exec(message)?.[0] ?? ''
}

/** True for an error of the system that `systemReason` explains. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false
  const { code = '', message } = error as NodeJS.ErrnoException
  return Object.hasOwn(REASONS, code) || Object.hasOwn(REASONS, codeIn(message))
}

/** Names the file in an error of the system: one of an open file, such as a folder that is read, does not name it. */
export function named(error: unknown, path: string): unknown {
  if (isSystemError(error)) error.path ??= path
  return error
}
