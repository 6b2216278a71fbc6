import { listOf } from './addresses.ts'
import type { Config } from './settings.ts'

/** The settings, grouped as the parts of the proxy take them. */
export function poolSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectTimeoutMs: config['limits.connectTimeoutMs'],
    callTimeoutMs: config['limits.callTimeoutMs'],
  }
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
  return { bodyMs: config['limits.bodyTimeoutMs'], writeMs: config['limits.writeTimeoutMs'] }
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
  return {
    requestsInFlight: config['limits.requestsInFlight'],
    callerInFlight: config['limits.callerInFlight'],
    callerPerSecond: config['limits.callerPerSecond'],
  }
}

export function compatSettings(config: Config) {
  return {
    dialect: config['v1.dialect'],
    maskCase: config['v2.maskCase'],
    replaceMask: config['v2.replaceMask'],
    readmes: config['registry.readmes'],
    notFound: config['errors.notFound'],
    unknownParameters: config.unknownParameters,
    limits: {
      callsPerRequest: config['limits.callsPerRequest'],
      parallelCalls: config['limits.parallelCalls'],
      rowsPerRequest: config['limits.rowsPerRequest'],
      bufferedRows: config['limits.bufferedRows'],
      requestBytes: config['limits.requestBytes'],
      bodiesBytes: config['limits.bodiesBytes'],
      deadlineMs: config['limits.deadlineMs'],
    },
  }
}

/** The most responses one comparison requests in turn: the other side, v1 to learn, v1 again, and three times v2 and v1 while v1 moves. */
const ANSWERS = 9

export function migrationSettings(config: Config) {
  const path = config['records.file']
  return {
    rules: config.modes,
    emulated: config.emulated,
    dialect: config['v1.dialect'],
    values: config['records.values'],
    subjects: config['records.subjects'],
    learnEvery: config['diff.learnEvery'],
    perSecond: config['diff.perSecond'],
    verifyWrites: config['diff.verifyWrites'],
    limit: config['diff.answerBytes'],
    answerMs: config['diff.deadlineMs'],
    fallbacksPerMinute: config['fallback.perMinute'],
    probePercent: config['circuit.probePercent'],
    queue: {
      waiting: config['diff.waiting'],
      characters: config['diff.waitingBytes'],
      parallel: config['diff.parallel'],
      deadlineMs: ANSWERS * config['diff.deadlineMs'],
    },
    records: {
      memory: config['records.memory'],
      ...(path !== undefined && { file: { path, bytes: config['records.bytes'], files: config['records.files'] } }),
    },
  }
}

export function forwardedSettings(config: Config) {
  return { trusted: listOf(config['forwarded.trusted']), header: config['forwarded.header'] }
}

export function adminSettings(config: Config) {
  const names = [config['admin.host'], ...listOf(config['admin.names'])]
  const { 'admin.token': token, 'admin.readToken': readToken, 'admin.tokens': named } = config
  const tokens = [
    ...(token === undefined ? [] : [{ name: 'admin.token', token, right: 'change' as const }]),
    ...named.map((one) => ({ ...one, right: 'change' as const })),
    ...(readToken === undefined ? [] : [{ name: 'admin.readToken', token: readToken, right: 'read' as const }]),
  ]
  return { names, tokens }
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
