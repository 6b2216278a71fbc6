import { fileURLToPath } from 'node:url'
import { until } from '../../../stage/clocks.ts'
import { startProgram } from '../../../stage/programs.ts'

export const program = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const CLI = program('../../../../src/cli.js')
const READY = /serves v1 on (\S+) from v2 at \S+; admin on (\S+)\.$/

export interface Start {
  /** Shell commands that run first in the process, for instance `ulimit -n 60`. */
  readonly before?: string
  readonly nodeFlags?: readonly string[]
  /** The command line to run, if it is not built beside this program. */
  readonly cli?: string
}

export type Child = Awaited<ReturnType<typeof serve>>

export async function serve(settings: Readonly<Record<string, string | number>>, { before = ':', nodeFlags = [], cli = CLI }: Start = {}) {
  const all = { port: 0, 'admin-port': 0, 'log-level': 'silent', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = startProgram('bash', ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...nodeFlags, cli, 'serve', ...flags])
  const [, url = '', adminUrl = ''] = READY.exec(await child.line(READY)) ?? []
  return Object.assign(child, { url, adminUrl })
}

/** Returns the value of a metric; its name includes its labels, if any. */
export async function metric({ adminUrl }: Pick<Child, 'adminUrl'>, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? Number.NaN)
}

export const inFlight = (proxy: Pick<Child, 'adminUrl'>) => metric(proxy, 'crosswalk_requests_in_flight')

export const idle = (proxy: Pick<Child, 'adminUrl'>) => until(async () => (await inFlight(proxy)) === 0)

/** Asks what was loaded into the process for what it measures: it answers a signal by a line of its name and JSON. */
export async function askProbe<T>(child: Child, name: string): Promise<T> {
  child.signal('SIGUSR2')
  return JSON.parse((await child.line(new RegExp(`^${name} `))).slice(name.length + 1)) as T
}
