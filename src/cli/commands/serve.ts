import { availableParallelism } from 'node:os'
import { mappings } from '../../../mappings/index.ts'
import type { Config } from '../../config/settings.ts'
import { needV1 } from '../../modes/choose/rules.ts'
import { NEEDS_V1 } from '../../modes/modes-state.ts'
import { declarationsWith } from '../../server/declarations.ts'
import { openFleet } from '../../server/fleet/open-fleet.ts'
import { createLog } from '../../server/log.ts'
import { createServer } from '../../server.ts'
import { openTracing } from '../../tracing/open.ts'
import { type Command, endWith, MISUSED } from '../command.ts'
import { configFlags, configFrom, configPath } from '../config-flags.ts'
import { watchConfig } from '../serve/watch-config.ts'
import { stay } from '../stay.ts'

/** Runs the proxy alone, in front of a v2 service. */
export const serve: Command = {
  usage: 'serve',
  summary: 'Serves v1 from the v2 service at --upstream-v2.',
  flags: configFlags(),
  async run(flags, _, io) {
    const loaded = configFrom(flags, io)
    if ('problem' in loaded) return endWith(io, MISUSED, loaded.problem)
    const { config } = loaded
    if (config['upstream.v2'] === undefined)
      return endWith(
        io,
        MISUSED,
        'upstream.v2 is not set: give the base address of the v2 service with --upstream-v2, CROSSWALK_UPSTREAM_V2 or the file.',
      )
    if (config['upstream.v1'] === undefined && needV1(config.modes)) return endWith(io, MISUSED, NEEDS_V1)
    const declared = declarationsWith(
      config['diff.ignore'],
      mappings.flatMap(({ operations }) => operations),
    )
    if ('problem' in declared) return endWith(io, MISUSED, declared.problem)
    const workers = workersOf(config)
    if (workers > 1) return (await import('../serve/supervise.ts')).supervise(config, workers, flags, io)
    const log = createLog(config)
    const [tracing, join] = await Promise.all([openTracing(io.env), openFleet(config)])
    const server = createServer(config, mappings, { log, tracing, join, file: configPath(flags, io) })
    await server.listen()
    const code = stay(server, log, io, [watchConfig(flags, io, server, config)])
    io.out(`Crosswalk serves v1 on ${server.url} from v2 at ${config['upstream.v2']}; admin on ${server.adminUrl}.`)
    return code
  },
}

function workersOf({ workers }: Config): number {
  return workers === 'auto' ? availableParallelism() : workers
}
