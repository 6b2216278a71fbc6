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
