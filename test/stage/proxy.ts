import pino from 'pino'
import { tables as ours } from '../../mappings/index.ts'
import { configWith } from '../../src/app/config/config.ts'
import type { Config } from '../../src/app/config/settings.ts'
import { createServer, type Server, type ServerOptions } from '../../src/app/server/server.ts'
import type { Tables } from '../../src/tables/tables.ts'

export interface LogLine {
  readonly [member: string]: unknown
}

export interface TestProxy extends Omit<Server, 'listen'> {
  readonly log: readonly LogLine[]
  /** Resolves with the next log line that matches. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>
}

interface ProxyOptions extends Omit<ServerOptions, 'log'> {
  /** The tables that it serves; those of this package unless they are given. */
  readonly tables?: Tables
}

/** Starts the proxy on free ports and keeps its log. */
export async function startProxy(values: Partial<Config>, { tables = ours, ...options }: ProxyOptions = {}): Promise<TestProxy> {
  const log: LogLine[] = []
  const waiting = new Set<() => void>()
  const write = (line: string) => {
    log.push(JSON.parse(line))
    for (const look of waiting) look()
  }
  const server = createServer(
    // Tests look at every comparison.
    configWith({ 'listen.port': 0, 'admin.port': 0, 'diff.perSecond': 0, ...values }),
    tables,
    { ...options, log: pino({ base: null, level: values['log.level'] ?? 'info' }, { write }) },
  )
  await server.listen()
  const logged = (fits: (line: LogLine) => boolean) =>
    new Promise<LogLine>((resolve) => {
      const look = () => {
        const found = log.find(fits)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return { ...server, url: server.url, adminUrl: server.adminUrl, log, logged }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
