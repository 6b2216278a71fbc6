import type { Tables } from '../tables/tables.ts'
import { listOf } from './addresses.ts'
import { late } from './live/late.ts'
import type { Config } from './settings.ts'

/** The settings, grouped as the parts of the proxy take them. */
export function poolSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectTimeoutMs: config['limits.connectTimeoutMs'],
    callTimeoutMs: config['limits.callTimeoutMs'],
  }
}

/** The times of calls to v2. */
export function callTimes(config: Config) {
  return late(config, { callTimeoutMs: 'limits.callTimeoutMs' })
}

export function appLimits(config: Config) {
  return {
    headerBytes: config['limits.headerBytes'],
    headersTimeoutMs: config['limits.headersTimeoutMs'],
    idleTimeoutMs: config['limits.idleTimeoutMs'],
    maxStreams: streamsOf(config),
    connections: config['limits.clientConnections'],
    isShared: config.workers !== 1,
  }
}

/** The largest share of all request slots that one connection may take. */
const CONNECTION_SHARE = 1 / 8

function streamsOf(config: Config): number {
  const all = config['limits.requestsInFlight']
  const most = all === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(all * CONNECTION_SHARE))
  return Math.min(config['limits.streams'], most)
}

export function clientTimes(config: Config) {
  return late(config, { bodyMs: 'limits.bodyTimeoutMs', writeMs: 'limits.writeTimeoutMs' })
}

export function passthroughSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectionMs: config['limits.deadlineMs'],
    webSockets: config['limits.webSockets'],
    webSocketIdleMs: config['limits.webSocketIdleMs'],
  }
}

export function grpcSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectTimeoutMs: config['limits.connectTimeoutMs'],
    answerBytes: config['limits.answerBytes'],
  }
}

export function admissionLimits(config: Config) {
  return late(config, {
    requestsInFlight: 'limits.requestsInFlight',
    callerInFlight: 'limits.callerInFlight',
    callerPerSecond: 'limits.callerPerSecond',
  })
}

export function compatSettings(config: Config, { errors }: Pick<Tables, 'errors'> = {}) {
  const limits = late(config, {
    callsPerRequest: 'limits.callsPerRequest',
    parallelCalls: 'limits.parallelCalls',
    rowsPerRequest: 'limits.rowsPerRequest',
    bufferedRows: 'limits.bufferedRows',
    requestBytes: 'limits.requestBytes',
    bodiesBytes: 'limits.bodiesBytes',
    deadlineMs: 'limits.deadlineMs',
  })
  const translation = late(config, {
    dialect: 'v1.dialect',
    maskCase: 'v2.maskCase',
    replaceMask: 'v2.replaceMask',
    readmes: 'registry.readmes',
    notFound: 'errors.notFound',
    unknownParameters: 'unknownParameters',
  })
  return Object.assign(translation, { limits, errors })
}

/** The most responses one comparison requests in turn: the other side, v1 to learn, v1 again, and three times v2 and v1 while v1 moves. */
const ANSWERS = 9

export function migrationSettings(config: Config) {
  const path = config['records.file']
  const queue = late(config, { waiting: 'diff.waiting', characters: 'diff.waitingBytes', parallel: 'diff.parallel' })
  const comparisons = late(config, {
    learnEvery: 'diff.learnEvery',
    perSecond: 'diff.perSecond',
    verifyWrites: 'diff.verifyWrites',
    probePercent: 'circuit.probePercent',
  })
  return Object.assign(comparisons, {
    rules: config.modes,
    emulated: config.emulated,
    dialect: config['v1.dialect'],
    values: config['records.values'],
    subjects: config['records.subjects'],
    limit: config['diff.answerBytes'],
    answerMs: config['diff.deadlineMs'],
    fallbacksPerMinute: config['fallback.perMinute'],
    queue: Object.assign(queue, { deadlineMs: ANSWERS * config['diff.deadlineMs'] }),
    records: {
      memory: config['records.memory'],
      ...(path !== undefined && { file: { path, bytes: config['records.bytes'], files: config['records.files'] } }),
    },
  })
}

export function forwardedSettings(config: Config) {
  return { trusted: listOf(config['forwarded.trusted']), header: config['forwarded.header'] }
}

export function adminSettings(config: Config) {
  const names = [config['admin.host'], ...listOf(config['admin.names'])]
  return { names, tokens: () => adminTokens(config) }
}

/** The tokens of the admin port, as they are now. */
export function adminTokens({ 'admin.token': token, 'admin.readToken': readToken, 'admin.tokens': named }: Config) {
  return [
    ...(token === undefined ? [] : [{ name: 'admin.token', token, right: 'change' as const }]),
    ...named.map((one) => ({ ...one, right: 'change' as const })),
    ...(readToken === undefined ? [] : [{ name: 'admin.readToken', token: readToken, right: 'read' as const }]),
  ]
}

export function announcement(config: Config) {
  return { deprecation: config['v1.deprecation'], sunset: config['v1.sunset'], successor: config['v1.successor'] }
}

export function contractSettings(config: Config) {
  return { dialect: config['v1.dialect'], notFound: config['errors.notFound'], ...announcement(config) }
}

/** The address that the settings give the proxy. */
export function listeningUrl(config: Config): string {
  const host = config['listen.host']
  const protocol = config['tls.cert'] === undefined ? 'http' : 'https'
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${config['listen.port']}`
}
