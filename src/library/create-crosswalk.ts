import { type Logger, pino } from 'pino'
import { readGivenSettings } from '../config/given/given-settings.ts'
import type { Config, SettingKey } from '../config/settings.ts'
import type { ModeRules } from '../migrate/modes/rules.ts'
import { createClassify } from '../serve/classify.ts'
import { openMetricsExport } from '../serve/watch/metrics-export.ts'
import { openTracing } from '../serve/watch/spans.ts'
import { checked } from '../server/checked.ts'
import { openFleet } from '../server/fleet/open-fleet.ts'
import { loadTables } from '../server/tables/load-tables.ts'
import { createServer, type Server } from '../server.ts'
import { prefixOf } from '../tables/operation.ts'
import type { Tables } from '../tables/tables.ts'
import type { Crosswalk, CrosswalkOptions, Log } from './crosswalk.ts'
import { ELSEWHERE, type Settings } from './settings-value.ts'

/**
 * Makes a Crosswalk that is ready to serve:
 *
 *     const v1 = await createCrosswalk({ upstream: { v2: 'https://api.example.com' }, listen: { port: 8080 } })
 *     await v1.listen()
 *     process.once('SIGTERM', () => v1.close())
 *
 * It reads no environment, listens to no signal, writes nothing and opens no port unless the settings say so. Rejects with sentences that name
 * the settings that are wrong.
 */
export async function createCrosswalk(settings: Settings, options: CrosswalkOptions = {}): Promise<Crosswalk> {
  return openCrosswalk(settings, options, ELSEWHERE)
}

/** `refused` are the settings that cannot be given here, with what to do instead. */
export async function openCrosswalk(
  settings: unknown,
  { tables, log = false, tracing = {}, clocks }: CrosswalkOptions,
  refused: Partial<Record<SettingKey, string>>,
): Promise<Crosswalk> {
  const { config, hasAdmin } = configOf(settings, refused)
  const known = tables ?? (await loadTables(undefined))
  // What is opened next would stay open if no server could be made of it.
  checked(config, known)
  const [traced, exportMetrics, join] = await Promise.all([openTracing(tracing), openMetricsExport(tracing), openFleet(config)])
  const role = { hasAdmin: false }
  const server = createServer(config, known, { log: loggerOf(log), tracing: traced, exportMetrics, join, clocks, role })
  try {
    await server.begin()
    if (hasAdmin) await server.openAdmin()
  } catch (error) {
    await server.close()
    throw error
  }
  return crosswalkOf(server, known)
}

function configOf(
  settings: unknown,
  refused: Partial<Record<SettingKey, string>>,
): { readonly config: Config; readonly hasAdmin: boolean } {
  const instead = new Map(Object.entries(refused) as [SettingKey, string][])
  const read = readGivenSettings(settings, { refused: instead, defaults: { 'listen.port': 0, 'admin.port': 0 } })
  if ('problem' in read) throw new Error(read.problem)
  const { config, given } = read
  const hasAdmin = given.has('admin.port')
  const idle = [...given].find((key) => key.startsWith('admin.'))
  if (!hasAdmin && idle !== undefined) throw new Error(`${idle} has no effect without admin.port: give the port, or leave out the first.`)
  return { config, hasAdmin }
}

function crosswalkOf(server: Server, { mappings }: Tables): Crosswalk {
  const classify = createClassify(mappings)
  let [listening, closed]: (Promise<void> | undefined)[] = []
  return {
    ...server.reads,
    listen() {
      if (closed !== undefined) return Promise.reject(new Error('This Crosswalk is closed: make another one.'))
      listening ??= server.listen()
      return listening
    },
    get url() {
      return server.url || undefined
    },
    get adminUrl() {
      return server.adminUrl || undefined
    },
    handler: (request, response) => server.handler?.(request, response),
    prefixes: [...new Set(mappings.map((mapping) => `/${prefixOf(mapping)}`))],
    servesPath: (target) => classify(target).kind !== 'native',
    changeModes(modes) {
      const problem = server.changeModes(modes as ModeRules, { source: 'program' })
      if (problem !== undefined) throw new Error(problem)
    },
    metrics: () => server.metrics.text('prometheus'),
    notReady: server.notReady,
    idle: server.idle,
    close() {
      closed ??= server.close()
      return closed
    },
  }
}

/** Other loggers than pino do not tell their level. */
function loggerOf(log: Log | false): Logger {
  if (log === false) return pino({ enabled: false })
  if (log.isLevelEnabled) return log as Logger
  const { error, info, warn } = log
  return { error: error.bind(log), info: info.bind(log), warn: warn.bind(log), isLevelEnabled: () => true } as unknown as Logger
}
