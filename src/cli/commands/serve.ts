import { availableParallelism } from 'node:os'
import type { Config } from '../../config/settings.ts'
import { openMetricsExport } from '../../serve/watch/metrics-export.ts'
import { openTracing } from '../../serve/watch/spans.ts'
import { openFleet } from '../../server/fleet/open-fleet.ts'
import { createLog } from '../../server/log.ts'
import { loadTables } from '../../server/tables/load-tables.ts'
import { createServer } from '../../server.ts'
import { type Command, endWith, type Flags, type Io, MISUSED } from '../command.ts'
import { configFlags, configFrom, configPath, settingsFrom } from '../config-flags.ts'
import { settingsProblems, startProblems } from '../serve/start-problems.ts'
import { watchCertificate } from '../serve/watch-certificate.ts'
import { watchConfig } from '../serve/watch-config.ts'
import { stay } from '../stay.ts'

/** Runs the proxy alone, in front of a v2 service. */
export const serve: Command = {
  usage: 'serve',
  summary: 'Serves v1 from the v2 service at --upstream-v2.',
  flags: {
    check: { help: 'Only say what would end the start, each problem in a line. Exits with 0 if nothing would, 2 otherwise', switch: true },
    ...configFlags(),
  },
  stays: { heeds: 'SIGHUP' },
  async run(flags, _, io) {
    if (flags.check) return check(flags, io)
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return endWith(io, MISUSED, loaded.problem)
    const { config } = loaded
    const tables = await io.tables()
    const [problem] = settingsProblems({ config, tables })
    if (problem !== undefined) return endWith(io, MISUSED, problem)
    const workers = workersOf(config)
    if (workers > 1) return (await import('../serve/supervise.ts')).supervise(config, workers, flags, io)
    const log = createLog(config)
    const [tracing, exportMetrics, join] = await Promise.all([openTracing(io.env), openMetricsExport(io.env), openFleet(config)])
    const server = createServer(config, tables, { log, tracing, exportMetrics, join, file: configPath(flags, io) })
    await server.listen()
    const code = stay(server, log, io, [watchConfig(flags, io, server, config), watchCertificate(config, io, server.certify)])
    io.out(`Crosswalk serves v1 on ${server.url} from v2 at ${config['upstream.v2']}; admin on ${server.adminUrl}.`)
    return code
  },
}

/** Opens no port and asks no service. */
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

function workersOf({ workers }: Config): number {
  return workers === 'auto' ? availableParallelism() : workers
}
