import { createProxy } from '../balancer/processes.ts'
import { startJournal } from './journal.ts'
import type { Finding } from './judge.ts'
import { AFTERWARDS, type Findings, runLane } from './lane.ts'
import { CARRIERS } from './rows/make.ts'
import type { Row } from './rows.ts'
import { type Kind, type Running, startServer } from './server.ts'

/** The parts of the ways, and the rows that are sent through them. */
export interface Garden {
  /** Path of the built command line. */
  readonly cli: string
  readonly rows: readonly Row[]
}

/** From the client to the journal: `crosswalk`, or the name of a server. */
export type Way = readonly ('crosswalk' | 'crosswalk without v1' | Kind)[]

export const nameOf = (way: Way) => ['client', ...way.map((hop) => (typeof hop === 'string' ? hop : hop.name)), 'journal'].join(' → ')

/** Starts a way from its end to its front, sends all rows through it, and stops it. */
export async function walk({ cli, rows }: Garden, way: Way): Promise<Findings> {
  const journal = await startJournal()
  const stops: (() => Promise<unknown>)[] = [journal.close]
  try {
    let { port } = journal
    let proxy: Awaited<ReturnType<typeof createProxy>> | undefined
    for (const hop of [...way].reverse()) {
      if (typeof hop === 'string') {
        proxy = await createProxy(cli, environment(port, hop === 'crosswalk'))
        const { stop } = proxy
        stops.unshift(() => stop('SIGKILL'))
        // `/healthz` only says that the proxy listens. A ping of the services behind it would be an extra request.
        await proxy.start('/healthz')
        port = proxy.port
      } else {
        const server: Running = await startServer(hop, port)
        stops.unshift(server.stop)
        port = server.port
      }
    }
    const carriers = CARRIERS.filter((carrier) => carrier !== 'v1' || !way.includes('crosswalk without v1'))
    return await runLane({ port, journal, carriers, ...(proxy && { proxy }) }, rows)
  } finally {
    for (const stop of stops) await stop()
  }
}

/** Both services are the server behind the proxy. There is no fallback, because it would be a second request. */
function environment(port: number, isWithV1: boolean): Readonly<Record<string, string>> {
  const upstream = `http://127.0.0.1:${port}`
  return {
    CROSSWALK_UPSTREAM_V2: upstream,
    ...(isWithV1 && { CROSSWALK_UPSTREAM_V1: upstream }),
    CROSSWALK_FALLBACKS_PER_MINUTE: '0',
    CROSSWALK_LOG_LEVEL: 'error',
  }
}

/** One fault in one row. */
export interface Wrong {
  readonly row: Pick<Row, 'nr' | 'name' | 'carrier'>
  readonly finding: Finding
}

const AFTER_ALL: Wrong['row'] = { nr: AFTERWARDS, name: 'afterwards', carrier: 'native' }

export function listOf(findings: Findings, rows: readonly Row[]): readonly Wrong[] {
  const wrongs = [...findings].flatMap(([nr, found]) => [...found].map((finding) => ({ row: rows[nr] ?? AFTER_ALL, finding })))
  return wrongs.sort((a, b) => a.row.nr - b.row.nr)
}

/** A line by which a person finds the row. */
export const describeWrong = ({ row, finding }: Wrong) => `${finding}: row ${row.nr}, ${row.carrier}, ${row.name}`

/** Names of rows that a line shows. */
const SHOWN = 3

/** Returns a line for each kind of finding: the number of its rows, and the names of some. */
export function summaryOf(wrongs: readonly Wrong[]): readonly string[] {
  const byFinding = new Map<Finding, Wrong[]>()
  for (const wrong of wrongs) byFinding.set(wrong.finding, [...(byFinding.get(wrong.finding) ?? []), wrong])
  return [...byFinding].map(([finding, found]) => {
    const names = [...new Set(found.map(({ row }) => row.name))]
    return `  ${finding}: ${found.length} rows (${names.slice(0, SHOWN).join('; ')}${names.length > SHOWN ? '; …' : ''})`
  })
}
