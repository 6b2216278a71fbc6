import { isDeepStrictEqual } from 'node:util'
import { type Config, SETTING_KEYS, type SettingKey } from './settings.ts'

/** What reads the objects of `live` anew, by their settings. */
const readers = new WeakMap<Config, (() => void)[]>()

/**
 * Returns an object whose members follow the settings, because a live setting may change:
 * `live(config, { deadlineMs: 'limits.deadlineMs' })`. A copy of it (`{ ...live(…) }`) does not change any more. The members are plain:
 * every request reads a dozen of them, and settings hardly ever change (`changeLive`).
 */
export function live<const Names extends Readonly<Record<string, SettingKey>>>(
  config: Config,
  names: Names,
): { readonly [Name in keyof Names]: Config[Names[Name]] } {
  const members: Record<string, unknown> = {}
  const read = () => {
    for (const [name, key] of Object.entries(names)) members[name] = config[key]
  }
  read()
  readers.set(config, [...(readers.get(config) ?? []), read])
  return members as { readonly [Name in keyof Names]: Config[Names[Name]] }
}

/** Changes settings of a running proxy, and every object of `live` that shows them. */
export function changeLive(config: Config, changes: Partial<Config>): void {
  Object.assign(config, changes)
  for (const read of readers.get(config) ?? []) read()
}

/** Why a setting cannot change while the proxy serves, as the end of a sentence with *because*. */
const WHY = {
  connections: 'the connections to the services are made with it',
  port: 'the port is open already',
  clients: 'the connections of clients are open already',
  processes: 'the processes run already',
  surface: 'the answers and the documents of the v1 contract are made with it',
  rpc: 'the gRPC services are registered with it',
  learnt: 'what was counted and learnt depends on it',
  records: 'what is recorded so far depends on it',
  store: 'the store is joined already',
  notify: 'the receiver may be taking an event',
  room: 'requests hold a part of it',
  kept: 'the memory for answers has that many places',
} as const

/** Every setting: true if a running proxy takes a new value from the next request on, or why it needs a restart. */
const LIVE: Readonly<Record<SettingKey, true | (typeof WHY)[keyof typeof WHY]>> = {
  'upstream.v2': WHY.connections,
  'upstream.v1': WHY.connections,
  'upstream.v2Build': WHY.learnt,
  'upstream.v2Grpc': WHY.connections,
  'upstream.v1Grpc': WHY.connections,
  'upstream.connections': WHY.connections,
  'upstream.connectionAgeMs': WHY.connections,
  'upstream.v2Ca': WHY.connections,
  'upstream.v2Key': WHY.connections,
  'upstream.v2Cert': WHY.connections,
  'upstream.v1Ca': WHY.connections,
  'upstream.v1Key': WHY.connections,
  'upstream.v1Cert': WHY.connections,
  'upstream.proxy': WHY.connections,
  'upstream.noProxy': WHY.connections,
  'listen.host': WHY.port,
  'listen.port': WHY.port,
  workers: WHY.processes,
  'tls.key': WHY.port,
  'tls.cert': WHY.port,
  'tls.clientCa': WHY.port,
  'admin.host': WHY.port,
  'admin.port': WHY.port,
  'admin.names': WHY.port,
  'admin.publicUrl': WHY.port,
  'admin.oidc.issuer': WHY.port,
  'admin.oidc.audience': WHY.port,
  'admin.oidc.claim': WHY.port,
  'admin.oidc.write': WHY.port,
  'admin.oidc.read': WHY.port,
  'admin.oidc.name': WHY.port,
  'admin.token': true,
  'admin.tokens': true,
  'admin.readToken': true,
  'forwarded.trusted': WHY.clients,
  'forwarded.header': WHY.clients,
  'v1.dialect': WHY.surface,
  'v1.deprecation': WHY.surface,
  'v1.sunset': WHY.surface,
  'v1.successor': WHY.surface,
  'errors.notFound': true,
  unknownParameters: true,
  'v2.maskCase': true,
  'v2.replaceMask': true,
  'grpc.v2beta1': WHY.rpc,
  'grpc.corsOrigins': WHY.rpc,
  'grpc.reflection': WHY.rpc,
  'registry.readmes': true,
  emulated: WHY.learnt,
  modes: true,
  'clients.names': true,
  tables: WHY.surface,
  'fallback.perMinute': WHY.room,
  'circuit.probePercent': true,
  'diff.waiting': true,
  'diff.waitingBytes': true,
  'diff.parallel': true,
  'diff.perSecond': true,
  'diff.deadlineMs': WHY.connections,
  'diff.answerBytes': WHY.room,
  'diff.learnEvery': true,
  'diff.verifyWrites': true,
  'diff.ignore': true,
  'cutover.each': true,
  'cutover.operations': true,
  'records.file': WHY.records,
  'records.bytes': WHY.records,
  'records.files': WHY.records,
  'records.memory': WHY.records,
  'records.values': WHY.records,
  'records.subjects': WHY.records,
  'store.url': WHY.store,
  'store.name': WHY.store,
  'store.cache': WHY.store,
  'store.leaseMs': WHY.store,
  'notify.url': WHY.notify,
  'notify.secret': WHY.notify,
  'notify.source': WHY.notify,
  'notify.timeoutMs': WHY.notify,
  'notify.attempts': WHY.notify,
  'limits.callsPerRequest': true,
  'limits.parallelCalls': true,
  'limits.bufferedRows': true,
  'limits.rowsPerRequest': true,
  'limits.headerBytes': WHY.clients,
  'limits.requestBytes': WHY.room,
  'limits.bodiesBytes': WHY.room,
  'limits.answerBytes': WHY.connections,
  'limits.messageBytes': WHY.rpc,
  'limits.messagesBytes': WHY.room,
  'limits.clientConnections': WHY.clients,
  'limits.streams': WHY.clients,
  'limits.callTimeoutMs': true,
  'limits.connectTimeoutMs': WHY.connections,
  'limits.headersTimeoutMs': WHY.clients,
  'limits.idleTimeoutMs': WHY.clients,
  'limits.bodyTimeoutMs': true,
  'limits.writeTimeoutMs': true,
  'limits.streamBytes': true,
  'limits.webSockets': WHY.clients,
  'limits.webSocketIdleMs': WHY.clients,
  'limits.requestsInFlight': true,
  'limits.refusalsPerSecond': WHY.clients,
  'limits.callerInFlight': true,
  'limits.callerPerSecond': true,
  'limits.deadlineMs': WHY.connections,
  'limits.shutdownMs': true,
  'limits.drainMs': true,
  'limits.lingerMs': true,
  'keep.entries': WHY.kept,
  'keep.ttlMs': true,
  'log.level': true,
}

/** Returns why a setting needs a restart, as the end of a sentence with *because*; undefined if it is live. */
export function whyRestart(key: SettingKey): string | undefined {
  const live = LIVE[key]
  return live === true ? undefined : live
}

/** The settings that changed between two configurations. */
interface Changed {
  /** The values of those that a running proxy can take. The modes are not among them: they have a way of their own. */
  readonly live: Partial<Config>
  /** Those that need a restart. */
  readonly restart: readonly SettingKey[]
}

export function changedBetween(before: Config, after: Config): Changed {
  const changed = SETTING_KEYS.filter((key) => key !== 'modes' && !isDeepStrictEqual(before[key], after[key]))
  const live = changed.filter((key) => whyRestart(key) === undefined)
  return {
    live: Object.fromEntries(live.map((key) => [key, after[key]])) as Partial<Config>,
    restart: changed.filter((key) => whyRestart(key) !== undefined),
  }
}

/** The settings whose values are numbers. */
type NumberKey = { [Key in SettingKey]: [Config[Key]] extends [number] ? Key : never }[SettingKey]

/** What a number bounds, seen from one of several workers. A `total` is divided among them; everything else means the same in each. */
type Meaning = 'total' | 'request' | 'connection' | 'caller' | 'time' | 'share' | 'supervisor' | 'fleet'

/**
 * Every number among the settings. A limit of one caller is no total: its calls may come on one connection, which one worker serves.
 * What the store keeps for a fleet (`fleet`) is not divided either.
 * The supervisor alone has the admin port, the record file and the receiver of notifications.
 */
const MEANINGS: Readonly<Record<NumberKey, Meaning>> = {
  'upstream.connections': 'total',
  'upstream.connectionAgeMs': 'time',
  'listen.port': 'supervisor',
  'admin.port': 'supervisor',
  'fallback.perMinute': 'fleet',
  'circuit.probePercent': 'share',
  'diff.waiting': 'total',
  'diff.waitingBytes': 'total',
  'diff.parallel': 'total',
  'diff.perSecond': 'total',
  'diff.deadlineMs': 'time',
  'diff.answerBytes': 'request',
  'diff.learnEvery': 'share',
  'cutover.each': 'request',
  'records.bytes': 'supervisor',
  'records.files': 'supervisor',
  'records.memory': 'supervisor',
  'notify.timeoutMs': 'supervisor',
  'notify.attempts': 'supervisor',
  'limits.callsPerRequest': 'request',
  'limits.parallelCalls': 'request',
  'limits.bufferedRows': 'request',
  'limits.rowsPerRequest': 'request',
  'limits.headerBytes': 'request',
  'limits.requestBytes': 'request',
  'limits.bodiesBytes': 'total',
  'limits.answerBytes': 'request',
  'limits.messageBytes': 'request',
  'limits.messagesBytes': 'total',
  'limits.clientConnections': 'total',
  'limits.streams': 'connection',
  'limits.callTimeoutMs': 'time',
  'limits.connectTimeoutMs': 'time',
  'limits.headersTimeoutMs': 'time',
  'limits.idleTimeoutMs': 'time',
  'limits.bodyTimeoutMs': 'time',
  'limits.writeTimeoutMs': 'time',
  'limits.streamBytes': 'request',
  'limits.webSockets': 'total',
  'limits.webSocketIdleMs': 'time',
  'limits.requestsInFlight': 'total',
  'limits.refusalsPerSecond': 'total',
  'limits.callerInFlight': 'caller',
  'limits.callerPerSecond': 'caller',
  'limits.deadlineMs': 'time',
  'limits.shutdownMs': 'time',
  'limits.drainMs': 'time',
  'limits.lingerMs': 'time',
  'keep.entries': 'total',
  'store.leaseMs': 'time',
  'keep.ttlMs': 'time',
}

/** The settings that bound all workers together. */
export const WORKER_TOTALS = (Object.keys(MEANINGS) as NumberKey[]).filter((key) => MEANINGS[key] === 'total')

/** The setting that bounds one of the things that another bounds together. */
const LARGEST = { 'limits.bodiesBytes': 'limits.requestBytes', 'limits.messagesBytes': 'limits.messageBytes' } as const

/**
 * Returns the settings of one of several workers: each total is divided and rounded down, but is at least 1, and has room for the largest of
 * what it bounds. 0 stays 0, because it means none or unlimited.
 */
export function settingsOfWorker(config: Config, workers: number): Config {
  const least = (key: NumberKey) => config[LARGEST[key as keyof typeof LARGEST]] ?? 1
  const share = (key: NumberKey) => (config[key] === 0 ? 0 : Math.max(least(key), Math.floor(config[key] / workers)))
  return { ...config, ...Object.fromEntries(WORKER_TOTALS.map((key) => [key, share(key)])) }
}
