/** Where events of a subscription go, and where they must not. */

/** Host names that mean this machine, as `URL` writes them: it turns every spelling of an IPv4 address into the dotted one. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

/** Whether a URL leads to this machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

const parse = (sink: string): URL | undefined => (URL.canParse(sink) ? new URL(sink) : undefined)

/** Schemes a sink may have, given where it leads. */
export type SchemeRule = (url: URL) => readonly string[]

/** Plain HTTP nowhere (semantics §3.16). */
export const httpsOnly: SchemeRule = () => ['https:']
/** Plain HTTP on this machine: the sandbox's own flag. */
export const httpOnLoopback: SchemeRule = (url) => (isLoopback(url) ? ['https:', 'http:'] : ['https:'])
/** Plain HTTP anywhere, as v1 takes it (facts §24.13). */
export const anyHttp: SchemeRule = () => ['https:', 'http:']

/** Why a sink is refused; undefined when it is fine. */
export const sinkProblem = (sink: string, schemes: SchemeRule): string | undefined => {
  const url = parse(sink)
  if (!url) return 'must be a URL'
  const allowed = schemes(url)
  return allowed.includes(url.protocol) ? undefined : `must use the scheme ${allowed.map((scheme) => scheme.slice(0, -1)).join(' or ')}`
}

/** The URL to deliver to; undefined for a sink that is none, and for one off this machine unless `anySink` allows it. */
export const deliverableUrl = (sink: string, anySink: boolean): URL | undefined => {
  const url = parse(sink)
  return url && (anySink || isLoopback(url)) ? url : undefined
}
