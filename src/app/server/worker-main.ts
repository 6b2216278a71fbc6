import { hostname } from 'node:os'
import { createIpcStore } from '../../fleet/store/ipc.ts'
import { openTracing } from '../../serve/watch/spans.ts'
import { loadTables } from '../config/config-file.ts'
import type { Config } from '../config/settings.ts'
import { joinFleet } from './fleet.ts'
import { createLine, createSentRecords, failureOf, TOPICS, type WorkerOrders } from './line.ts'
import { createLog } from './process.ts'
import { createServer } from './server.ts'

/** The process of a worker. It serves as its supervisor says, and ends with it: node:cluster ends a worker that is disconnected. */
const line = createLine({
  send: (message) => process.send?.(message, undefined, undefined, () => {}),
  on: (event, listener) => process.on(event, listener),
})

// A terminal and systemd send signals to every process of a group. The supervisor alone decides.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

// Live settings that change before there is a server.
let changed: Partial<Config> = {}
let reload = (changes: Partial<Config>): unknown => {
  changed = { ...changed, ...changes }
  return undefined
}
line.on(TOPICS.settings, (changes) => void reload(changes as Partial<Config>))

const { place, config, file, kept, records: sent } = (await line.ask(TOPICS.orders)) as WorkerOrders
const log = createLog(config).child({ worker: place })

try {
  const records = sent && createSentRecords(line, sent)
  const tracing = await openTracing(process.env, log)
  // The supervisor keeps the cache.
  const server = createServer({ ...config, 'store.cache': undefined }, await loadTables(config.tables), {
    log,
    tracing,
    file,
    join: joinFleet(createIpcStore(line), { name: `${hostname()} worker ${place}`, kept }),
    role: { hasAdmin: false, isWorker: true, records },
  })
  server.reload(changed)
  reload = server.reload
  let isLeaving = false
  const leave = async (isReplaced: boolean, code: number) => {
    if (isLeaving) return
    isLeaving = true
    try {
      await (isReplaced ? server.giveWay() : server.close())
      await line.ask(TOPICS.done, await server.metrics.values())
    } catch (error) {
      // Its supervisor waits for its end.
      log.fatal({ err: error }, 'the worker ends without its last metrics')
      process.exit(1)
    }
    process.exit(code)
  }
  line.on(TOPICS.leave, (isReplaced) => void leave(isReplaced === true, 0))
  line.on(TOPICS.metrics, server.metrics.values)
  line.on(TOPICS.ping, () => true)
  process.on('uncaughtException', (thrown: unknown) => {
    log.fatal({ err: thrown }, 'an exception escaped; what is under way may finish, then the worker ends')
    line.tell(TOPICS.leaves)
    void leave(true, 1)
  })
  await server.listen()
  line.tell(TOPICS.listens, server.url)
} catch (error) {
  await line.ask(TOPICS.failed, failureOf(error))
  process.exit(1)
}
