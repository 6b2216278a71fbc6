import { createMemory } from '../../../fleet/store/memory.ts'
import { openStore } from '../../../fleet/store/open.ts'
import { downReason, type SplitStore, splitStore } from '../../../fleet/store/store.ts'
import type { Actor } from '../../../migrate/records/record.ts'
import { openMetricsExport } from '../../../serve/watch/metrics-export.ts'
import type { Config } from '../../config/settings.ts'
import { joinFleet, UNTOLD } from '../../server/fleet.ts'
import type { Checked } from '../../server/migration.ts'
import { createServer, type Server } from '../../server/server.ts'
import { createSupervisor } from '../../server/workers.ts'
import { endWith, FAILED, type Flags, type Io } from '../command.ts'
import { configPath } from '../flags.ts'
import { openLog, stay, watchCertificates, watchConfig } from '../stay.ts'

/** Runs the proxy in several processes: workers that serve, and this one, which supervises them. */
export async function supervise(config: Config, known: Checked, workers: number, flags: Flags, io: Io): Promise<number> {
  const { log, release } = openLog(config, io)
  const file = configPath(flags, io)
  // The store keeps the process, so that what else may fail comes before it.
  const [tables, exportMetrics] = await Promise.all([io.tables(), openMetricsExport(io.env)])
  const store = await openShared(config)
  const warn = (text: string) => log.warn(text)
  const kept = () => server.keptModes()
  const supervisor = createSupervisor({ config, workers, file, openStore: store.open, kept, warn })
  const server = createServer(config, tables, {
    known,
    log,
    exportMetrics,
    file,
    join: joinFleet(store.open(), { isNewStore: config['store.url'] === undefined }),
    role: supervisor.role,
  })
  try {
    await server.listen()
  } catch (error) {
    await store.close()
    throw error
  }
  io.out(
    `Crosswalk serves v1 on ${server.url} from v2 at ${config['upstream.v2']}; admin on ${server.adminUrl}. ${workers} workers share the port.`,
  )
  release()
  let rolled = Promise.resolve()
  const roll = (why: string) => {
    const roll = async () => {
      log.info(`${why}: the workers are replaced one by one`)
      if (await supervisor.roll()) log.info('the workers are replaced')
    }
    rolled = rolled.then(roll).catch((error: Error) => log.error(error.message))
  }
  const certificate = watchCertificates(config, known.tls, io, () => {
    server.certify()
    roll('the certificates changed')
  })
  const watches = [watchConfig(flags, io, reloading(server, supervisor), config), { ...certificate, look: () => roll('SIGHUP came') }]
  let sentence: string | undefined
  const givenUp = supervisor.givenUp.then((text) => {
    sentence = text
  })
  const untilStopped = () => Promise.race([io.untilStopped(), givenUp])
  const code = await stay(server, log, { ...io, untilStopped }, watches)
  const problem = await store.close().catch(downReason)
  if (problem !== undefined) log.warn(`${problem}: ${UNTOLD}`)
  return sentence === undefined ? code : endWith(io, FAILED, `Crosswalk ends: ${sentence}.`)
}

/** Hands live settings to the workers too. */
function reloading({ changeModes, sharesModes, reload }: Server, supervisor: ReturnType<typeof createSupervisor>) {
  return {
    changeModes,
    sharesModes,
    reload(changes: Partial<Config>, by?: Actor) {
      const problem = reload(changes, by)
      if (problem === undefined) supervisor.reload(changes)
      return problem
    },
  }
}

/** Opens the store of this machine, which the workers use through this process. Without `store.url`, it is in memory. */
async function openShared({ 'store.url': url, 'store.name': name }: Config): Promise<SplitStore> {
  return splitStore(url === undefined ? createMemory(Date.now).open() : await openStore(url, name))
}
