/** One sentence when this Node (`process.version`) gets no security fixes any more; undefined when it does. */
export function outOfSupport(version: string): string | undefined {
  if (!version.startsWith('v20.')) return undefined
  return `Node ${version.slice(1)} has had no security fixes since April 2026; Node 24 is recommended`
}
