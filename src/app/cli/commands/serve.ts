import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileWithin } from '../../../files.ts'
import { decodeShelves, MOST_SAVED } from '../../../fleet/store/saved.ts'
import { readStoreUrl } from '../../../fleet/store/store.ts'
import { checkAtStart } from '../../../grpc/check-at-start.ts'
import { NEEDS_V1 } from '../../../migrate/modes/modes.ts'
import { needV1 } from '../../../migrate/modes/rules.ts'
import { openMetricsExport } from '../../../serve/watch/metrics-export.ts'
import { openTracing } from '../../../serve/watch/spans.ts'
import { mappingProblems } from '../../../tables/check.ts'
import type { Tables } from '../../../tables/tables.ts'
import { readTls } from '../../config/certificates.ts'
import type { ReadSettings } from '../../config/config.ts'
import { loadTables } from '../../config/config-file.ts'
import { TLS_KEYS } from '../../config/contradictions.ts'
import type { Config, SettingKey } from '../../config/settings.ts'
import { checked, declarationsWith, wrongTermsOf } from '../../server/migration.ts'
import { openFleet } from '../../server/process.ts'
import { createServer } from '../../server/server.ts'
import { type Command, endWith, type Flags, failureLines, type Io, MISUSED } from '../command.ts'
import { configFlags, configOf, configPath, settingsFrom } from '../flags.ts'
import { openLog, stay, watchCertificates, watchConfig } from '../stay.ts'

/** What a check looks at besides the settings. */
interface CheckedStart {
  readonly config: Config
  readonly tables: Tables
  readonly env: Io['env']
}

/** One thing that a start needs. */
interface StartCheck {
  /** It is not looked at if one of these settings is wrong already. */
  readonly of: readonly SettingKey[]
  /** Returns a sentence if it is missing, or several. */
  readonly why: (start: CheckedStart) => string | undefined | readonly string[] | Promise<string | undefined>
}

const NO_V2 = 'upstream.v2 is not set: give the base address of the v2 service with --upstream-v2, CROSSWALK_UPSTREAM_V2 or the file.'

/** What settings can be wrong about together with the tables, and what a start reads, opens or loads. */
const CHECKS: readonly StartCheck[] = [
  { of: ['upstream.v2'], why: ({ config }) => (config['upstream.v2'] === undefined ? NO_V2 : undefined) },
  {
    of: ['upstream.v1', 'modes'],
    why: ({ config }) => (config['upstream.v1'] === undefined && needV1(config.modes) ? NEEDS_V1 : undefined),
  },
  { of: ['diff.ignore'], why: ({ config, tables }) => whyNotDeclared(config, tables) },
  { of: ['cutover.operations'], why: ({ config, tables }) => wrongTermsOf(config, tables) },
  { of: [...TLS_KEYS, 'upstream.v1', 'upstream.v2'], why: ({ config }) => thrown(() => readTls(config)) },
  { of: ['records.file'], why: ({ config }) => whyUnwritable('records.file', config['records.file']) },
  { of: ['store.cache'], why: ({ config }) => whyUnwritable('store.cache', config['store.cache']) },
  { of: ['store.url', 'store.name'], why: ({ config }) => whyNoStore(config) },
  { of: [], why: ({ tables }) => [...mappingProblems(tables.mappings)].map((problem) => `${problem}.`) },
  { of: [], why: ({ tables }) => thrown(() => tables.hasGrpc && checkAtStart(tables.mappings, tables.shapes)) },
  { of: [], why: ({ env }) => thrown(async () => (await openTracing(env))?.close()) },
  { of: [], why: ({ env }) => thrown(() => openMetricsExport(env)) },
]

/**
 * Returns a sentence for everything that would end a start or keep it from being ready: settings, files, certificate, tables, a store that
 * refuses. It opens no port and asks neither v1 nor v2. A store that does not answer is no problem, so that it works where none is at hand.
 */
async function startProblems({ config, problems, wrong }: ReadSettings, start: Omit<CheckedStart, 'config'>): Promise<readonly string[]> {
  const checks = CHECKS.filter(({ of }) => !of.some((key) => wrong.has(key)))
  const found = await Promise.all(checks.map(({ why }) => why({ config, ...start })))
  return [...new Set([...problems, ...found.flatMap((problem) => problem ?? [])])]
}

function whyNotDeclared(config: Config, tables: Tables): string | undefined {
  const declared = declarationsWith(config['diff.ignore'], tables)
  return 'problem' in declared ? declared.problem : undefined
}

/** Returns the sentence that a function throws or rejects with. */
async function thrown(run: () => unknown): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return `${failureLines(error)[0]?.replace(/\.$/, '')}.`
  }
}

function whyNoStore({ 'store.url': url, 'store.name': name }: Config): Promise<string | undefined> {
  return thrown(async () => {
    const address = url === undefined ? undefined : readStoreUrl(url)
    if (address === undefined) return
    const problem =
      address.carrier === 'file'
        ? await whyUnwritable('store.url', address.path)
        : await (await import('../../../fleet/store/redis.ts')).whyRefused(address, name)
    if (problem !== undefined) throw new Error(problem)
    if (address.carrier !== 'file') return
    const text = await fileWithin(address.path, MOST_SAVED).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (text !== undefined && !decodeShelves(text.toString(), Date.now))
      throw new Error(`store.url: ${address.path} is not a whole store of Crosswalk`)
  })
}

/** Returns a sentence if a file cannot be written, or not be made. Makes nothing itself. */
async function whyUnwritable(key: SettingKey, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const known = await stat(path).catch(() => undefined)
  if (known && !known.isFile()) return `${key} cannot be written: ${path} is not a file.`
  const why = await thrown(() => (known ? access(path, constants.W_OK) : access(dirname(path), constants.W_OK)))
  return why === undefined ? undefined : `${key} cannot be written: ${why}`
}

/** Runs the proxy alone, in front of a v2 service. */
export const serve: Command = {
  usage: 'serve',
  summary: 'Serves v1 from the v2 service at --upstream-v2.',
  flags: {
    check: { help: 'Only check the settings, and print each problem in a line. Exits with 0 if there is none, 2 otherwise', switch: true },
    ...configFlags(),
  },
  stays: { heeds: 'SIGHUP' },
  async run(flags, _, io) {
    if (flags.check) return check(flags, io)
    const config = configOf(flags, io)
    const tables = await io.tables()
    if (config['upstream.v2'] === undefined) return endWith(io, MISUSED, NO_V2)
    const known = checked(config, tables)
    const workers = config.workers === 'auto' ? availableParallelism() : config.workers
    if (workers > 1) return (await import('./supervise.ts')).supervise(config, known, workers, flags, io)
    const { log, release } = openLog(config, io)
    const [tracing, exportMetrics] = await Promise.all([openTracing(io.env, log), openMetricsExport(io.env)])
    // It keeps the process, so that what else may fail comes before it.
    const join = await openFleet(config)
    const server = createServer(config, tables, { known, log, tracing, exportMetrics, join, file: configPath(flags, io) })
    await server.listen()
    io.out(`Crosswalk serves v1 on ${server.url} from v2 at ${config['upstream.v2']}; admin on ${server.adminUrl}.`)
    release()
    return stay(server, log, io, [watchConfig(flags, io, server, config), watchCertificates(config, known.tls, io, server.certify)])
  },
}

/** Opens no port, and asks no service but the store. */
async function check(flags: Flags, io: Io): Promise<number> {
  const read = settingsFrom(flags, io)
  // Wrong settings do not keep the tables from being loaded: every problem is told.
  const tables = await loadTables(read.config.tables).catch((error: Error) => error)
  const problems = tables instanceof Error ? [...read.problems, tables.message] : await startProblems(read, { tables, env: io.env })
  for (const problem of problems) io.err(problem)
  if (problems.length > 0) return MISUSED
  io.out('crosswalk serve would start with these settings.')
  return 0
}
