/** Addresses that mean every address of a machine. No client can call them. */
const EVERY: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/**
 * Returns the address at which clients reach the proxy. If it listens at every address, that is the host by which the machine was called.
 *
 *     serverUrl('http://0.0.0.0:8080', 'proxy.example') // 'http://proxy.example:8080'
 */
export function serverUrl(listening: string, calledHost: string): string {
  const url = new URL(listening)
  if (EVERY.has(url.hostname)) url.hostname = calledHost
  return url.href.replace(/\/$/, '')
}
