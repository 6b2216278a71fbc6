/** The allowed and the forbidden targets of a subscription. */

/** Host names of this machine as `URL` writes them. It normalises every spelling of an IPv4 address. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

/** True if a URL leads to this machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

const parse = (sink: string): URL | undefined => (URL.canParse(sink) ? new URL(sink) : undefined)

/** The schemes a sink may have, depending on its URL. */
export type SchemeRule = (url: URL) => readonly string[]

/** Allows plain HTTP nowhere (semantics §3.16). */
export const httpsOnly: SchemeRule = () => ['https:']
/** Allows plain HTTP on this machine, for the sandbox's own flag. */
export const httpOnLoopback: SchemeRule = (url) => (isLoopback(url) ? ['https:', 'http:'] : ['https:'])
/** Allows plain HTTP anywhere, as v1 does (facts §24.13). */
export const anyHttp: SchemeRule = () => ['https:', 'http:']

/** The reason to refuse a sink, or undefined. */
export const sinkProblem = (sink: string, schemes: SchemeRule): string | undefined => {
  const url = parse(sink)
  if (!url) return 'must be a URL'
  const allowed = schemes(url)
  return allowed.includes(url.protocol) ? undefined : `must use the scheme ${allowed.map((scheme) => scheme.slice(0, -1)).join(' or ')}`
}

/** The URL to deliver to. Undefined for an invalid sink, and for one off this machine unless `anySink` allows it. */
export const deliverableUrl = (sink: string, anySink: boolean): URL | undefined => {
  const url = parse(sink)
  return url && (anySink || isLoopback(url)) ? url : undefined
}
