import { createProxy } from '../balancer/processes.ts'
import { startJournal } from './journal.ts'
import type { Finding } from './judge.ts'
import { AFTERWARDS, type Findings, runLane } from './lane.ts'
import { CARRIERS } from './rows/make.ts'
import type { Row } from './rows.ts'
import { type Kind, type Running, startServer } from './server.ts'

/** What stands in the ways, and what is sent through them. */
export interface Garden {
  /** Path of the built command line. */
  readonly cli: string
  readonly rows: readonly Row[]
}

/** From the client to the journal: `crosswalk`, or the name of a server. */
export type Way = readonly ('crosswalk' | 'crosswalk without v1' | Kind)[]

export const nameOf = (way: Way) => ['client', ...way.map((hop) => (typeof hop === 'string' ? hop : hop.name)), 'journal'].join(' → ')

/** Puts up a way from its end to its front, sends all rows through it, and takes it down. */
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
        // It listens; a ping of the services behind it would be a request that nobody sent.
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

/** Both services are what stands behind the proxy; a fallback would be a second request. */
function environment(port: number, isWithV1: boolean): Readonly<Record<string, string>> {
  const upstream = `http://127.0.0.1:${port}`
  return {
    CROSSWALK_UPSTREAM_V2: upstream,
    ...(isWithV1 && { CROSSWALK_UPSTREAM_V1: upstream }),
    CROSSWALK_FALLBACKS_PER_MINUTE: '0',
    CROSSWALK_LOG_LEVEL: 'error',
  }
}

/** One thing that is wrong in one row. */
export interface Wrong {
  readonly row: Pick<Row, 'nr' | 'name' | 'carrier'>
  readonly finding: Finding
}

const AFTER_ALL: Wrong['row'] = { nr: AFTERWARDS, name: 'afterwards', carrier: 'native' }

export function listOf(findings: Findings, rows: readonly Row[]): readonly Wrong[] {
  const wrongs = [...findings].flatMap(([nr, found]) => [...found].map((finding) => ({ row: rows[nr] ?? AFTER_ALL, finding })))
  return wrongs.sort((a, b) => a.row.nr - b.row.nr)
}

/** A line that a person finds the row by. */
export const describeWrong = ({ row, finding }: Wrong) => `${finding}: row ${row.nr}, ${row.carrier}, ${row.name}`

/** Names of rows that a line shows. */
const SHOWN = 3

/** A line for each kind of finding: in how many rows, and the names of some. */
export function summaryOf(wrongs: readonly Wrong[]): readonly string[] {
  const byFinding = new Map<Finding, Wrong[]>()
  for (const wrong of wrongs) byFinding.set(wrong.finding, [...(byFinding.get(wrong.finding) ?? []), wrong])
  return [...byFinding].map(([finding, found]) => {
    const names = [...new Set(found.map(({ row }) => row.name))]
    return `  ${finding}: ${found.length} rows (${names.slice(0, SHOWN).join('; ')}${names.length > SHOWN ? '; …' : ''})`
  })
}
