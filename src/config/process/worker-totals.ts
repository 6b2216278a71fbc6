import type { Config, SettingKey } from '../settings.ts'

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

/**
 * Returns the settings of one of several workers: each total is divided and rounded down, but is at least 1. 0 stays 0, because it means
 * none or unlimited. `limits.bodiesBytes` always has room for the largest body.
 */
export function settingsOfWorker(config: Config, workers: number): Config {
  const least = (key: NumberKey) => (key === 'limits.bodiesBytes' ? config['limits.requestBytes'] : 1)
  const share = (key: NumberKey) => (config[key] === 0 ? 0 : Math.max(least(key), Math.floor(config[key] / workers)))
  return { ...config, ...Object.fromEntries(WORKER_TOTALS.map((key) => [key, share(key)])) }
}
