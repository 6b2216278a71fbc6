import { z } from 'zod'
import { PAGE } from '../../admin/report-page.ts'
import { suggestion } from '../../tables/check.ts'
import { isObject } from '../../tables/json.ts'
import type { Tables } from '../../tables/tables.ts'
import { type FileValue, isSettingKey, membersOf, readConfigFile } from './config-file.ts'
import { contradictionsIn, EVERY } from './contradictions.ts'
import { listOf, quotedValue, secretsIn } from './kinds.ts'
import { live } from './live.ts'
import { type Config, envOf, flagOf, kindOf, SETTING_KEYS, SETTINGS, type SettingKey, shownValue } from './settings.ts'

const PREFIX = 'CROSSWALK_'

/** Variables that are no settings: of the sandbox, of the configuration file, and of the tests, which start the program too. */
const OTHERS = ['CONFIG', 'SANDBOX_PORT', 'SANDBOX_HOST', 'SEED', 'CASES', 'ROUNDS', 'SAMPLE', 'SCHEMAS', 'INTEROP', 'REFERENCE'].map(
  (name) => PREFIX + name,
)

/** What Kubernetes and Docker set in a container for a service or a container whose name begins with `crosswalk`. */
const LINK = /_(?:SERVICE_(?:HOST$|PORT(?:_|$))|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$|ENV_)/

/** The ends of others that they set, with their values. Variables of settings end so too (`CROSSWALK_STORE_NAME`), but have no such value. */
const LINKED = Object.entries({ _PORT: /^(?:tcp|udp|sctp):\/\//, _NAME: /^\// })

/** Returns the value of a variable. One that is empty counts as unset, and so does what Kubernetes tells of a service. */
export function variableIn(env: ConfigSources['env'], name: string): string | undefined {
  const value = env[name]
  if (!value || LINK.test(name) || LINKED.some(([end, form]) => name.endsWith(end) && form.test(value))) return undefined
  return value
}

/** Returns a sentence for each variable that looks like a setting and is none. Values are not told. */
export function unknownVariables(env: ConfigSources['env']): readonly string[] {
  const names = [...SETTING_KEYS.map(envOf), ...OTHERS]
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !names.includes(name) && variableIn(env, name))
  const otherwise = 'crosswalk help serve lists those that are.'
  return unknown.map((name) => `The environment variable ${name} is not a setting; ${suggestion(name, names, otherwise)}`)
}

export interface ConfigSources {
  /** Values of flags, keyed by the flag name without dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Where the value of a setting comes from: a flag overrides the environment, and so on. */
export interface Origin {
  readonly from: 'flag' | 'environment' | 'file' | 'default'
  /** `--port`, `CROSSWALK_PORT` or `crosswalk.yaml:3:9`; absent for a default. */
  readonly name?: string
}

/** What the sources say together. */
export interface ReadSettings {
  /** A value that is wrong has its default here. */
  readonly config: Config
  /** Of the settings that a source gives; every other one has its default. */
  readonly origins: ReadonlyMap<SettingKey, Origin>
  /** One sentence for each problem. */
  readonly problems: readonly string[]
  /** The settings whose values are wrong. */
  readonly wrong: ReadonlySet<SettingKey>
}

/** A configuration, or one sentence that names the wrong value, its source and the allowed values. */
export type Loaded = { readonly config: Config } | { readonly problem: string }

/** The flag that names the configuration file. The variable is the same with `CROSSWALK_` in front. */
export const FILE_FLAG = 'config'

interface Given extends Required<Origin> {
  readonly value: unknown
  /** Completes `… is 5 in …`, for the value or a member of it. */
  readonly source: (inside: readonly PropertyKey[]) => string
}

/** Reads the configuration as a start does: the first problem ends it. */
export function loadConfig(sources: ConfigSources): Loaded {
  const { config, problems } = readSettings(sources)
  const [problem] = problems
  return problem === undefined ? { config } : { problem }
}

/** Reads every setting. Flags override the environment, the environment overrides the file, the file overrides the defaults. */
export function readSettings({ flags, env }: ConfigSources): ReadSettings {
  const path = flags[FILE_FLAG] ?? env.CROSSWALK_CONFIG
  // An unset variable of a shell: without the file, tokens and limits would be missing and nobody would see it.
  const unnamed = flags[FILE_FLAG] === '' ? [`${FILE_FLAG} is "" in the flag --${FILE_FLAG}, but it must be the path of a file.`] : []
  const file = path ? readConfigFile(path) : { values: new Map<SettingKey, FileValue>(), problems: unnamed }
  const values: Partial<Record<SettingKey, unknown>> = {}
  const origins = new Map<SettingKey, Origin>()
  const problems = [...unknownVariables(env), ...file.problems]
  const wrong = new Set<SettingKey>()
  for (const key of SETTING_KEYS) {
    const given = find(key, { flags, env }, file.values)
    if (!given) continue
    const { from, name, value } = given
    origins.set(key, { from, name })
    const read = SETTINGS[key].kind.schema.safeParse(value)
    if (read.success) values[key] = read.data
    else {
      wrong.add(key)
      problems.push(...wrongValues(key, given, read.error.issues))
    }
  }
  const config = configWith(values as Partial<Config>)
  return { config, origins, problems: problems.length > 0 ? problems : contradictionsIn(config), wrong }
}

/** The defaults, overridden by these values. */
export function configWith(values: Partial<Config>): Config {
  const defaults = Object.fromEntries(SETTING_KEYS.map((key) => [key, SETTINGS[key].default]))
  return { ...defaults, ...values } as Config
}

function find(key: SettingKey, { flags, env }: ConfigSources, values: ReadonlyMap<SettingKey, FileValue>): Given | undefined {
  const flag = `--${flagOf(key)}`
  const value = flags[flagOf(key)]
  if (value !== undefined) return { value, from: 'flag', name: flag, source: () => `the flag ${flag}` }
  const variable = envOf(key)
  const set = variableIn(env, variable)
  if (set !== undefined) return { value: set, from: 'environment', name: variable, source: () => `the environment variable ${variable}` }
  const inFile = values.get(key)
  if (!inFile) return undefined
  const { placeOf } = inFile
  return { value: inFile.value, from: 'file', name: placeOf([]), source: (inside) => `the file ${placeOf(inside as (string | number)[])}` }
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Names the path of each problem inside a value. Does not print a secret. */
function wrongValues(key: SettingKey, { value, source }: Pick<Given, 'value' | 'source'>, issues: readonly Issue[]): readonly string[] {
  const kind = kindOf(key)
  const inside = issues.filter(({ path }) => kind.secret || path.length > 0)
  const near = typeof value === 'string' && !kind.secret ? suggestion(value, kind.choices ?? [], '') : ''
  const end = near === '' ? '.' : `; ${near}`
  if (inside.length === 0) return [`${key} is ${quotedValue(value)} in ${source([])}, but it must be ${kind.allowed}${end}`]
  return inside.map(({ path, message }) => `${[key, ...path].join('.')} in ${source(path)} ${message}.`)
}

function connectionSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectionAgeMs: config['upstream.connectionAgeMs'],
    connectTimeoutMs: config['limits.connectTimeoutMs'],
  }
}

/** The settings, grouped as the parts of the proxy take them. */
export function poolSettings(config: Config) {
  return { ...connectionSettings(config), callTimeoutMs: config['limits.callTimeoutMs'] }
}

/** The times of calls to v2. */
export function callTimes(config: Config) {
  return live(config, { callTimeoutMs: 'limits.callTimeoutMs' })
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
  return live(config, {
    bodyMs: 'limits.bodyTimeoutMs',
    writeMs: 'limits.writeTimeoutMs',
    callMs: 'limits.deadlineMs',
    streamBytes: 'limits.streamBytes',
    streamMs: 'limits.idleTimeoutMs',
  })
}

/** The share of all requests that streams of messages may be: they have no time limit. */
const STREAMS = 1 / 4

export function streamPlaces(config: Config) {
  return {
    get mostStreams() {
      return Math.ceil(config['limits.requestsInFlight'] * STREAMS) || Number.POSITIVE_INFINITY
    },
  }
}

export function passthroughSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectionAgeMs: config['upstream.connectionAgeMs'],
    connectionMs: config['limits.deadlineMs'],
    webSockets: config['limits.webSockets'],
    webSocketIdleMs: config['limits.webSocketIdleMs'],
  }
}

export function grpcSettings(config: Config) {
  return { ...connectionSettings(config), answerBytes: config['limits.answerBytes'] }
}

export function admissionLimits(config: Config) {
  return live(config, {
    requestsInFlight: 'limits.requestsInFlight',
    callerInFlight: 'limits.callerInFlight',
    callerPerSecond: 'limits.callerPerSecond',
  })
}

/** How v1 requests are translated, in the dialect of the settings or in another one. */
export function compatSettings(config: Config, { errors }: Pick<Tables, 'errors'> = {}, dialect = config['v1.dialect']) {
  const limits = live(config, {
    callsPerRequest: 'limits.callsPerRequest',
    parallelCalls: 'limits.parallelCalls',
    rowsPerRequest: 'limits.rowsPerRequest',
    bufferedRows: 'limits.bufferedRows',
    requestBytes: 'limits.requestBytes',
    bodiesBytes: 'limits.bodiesBytes',
  })
  const translation = live(config, {
    maskCase: 'v2.maskCase',
    replaceMask: 'v2.replaceMask',
    readmes: 'registry.readmes',
    notFound: 'errors.notFound',
    unknownParameters: 'unknownParameters',
  })
  return Object.assign(translation, { dialect, limits, errors })
}

/** The most responses one comparison requests in turn: the other side, v1 to learn, v1 again, and three times v2 and v1 while v1 moves. */
const ANSWERS = 9

export function migrationSettings(config: Config) {
  const path = config['records.file']
  const queue = live(config, { waiting: 'diff.waiting', characters: 'diff.waitingBytes', parallel: 'diff.parallel' })
  const comparisons = live(config, {
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
    names: () => config['clients.names'],
    terms: () => ({ each: config['cutover.each'], operations: config['cutover.operations'] }),
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
  const origin = config['admin.publicUrl']
  const names = [config['admin.host'], ...listOf(config['admin.names']), ...(origin === undefined ? [] : [new URL(origin).hostname])]
  return {
    names,
    page: origin === undefined ? undefined : `${origin}${PAGE}`,
    tokens: () => adminTokens(config),
    oidc: oidcSettings(config),
  }
}

/** The identity provider of the admin port. */
function oidcSettings(config: Config) {
  const issuer = config['admin.oidc.issuer']
  if (issuer === undefined) return undefined
  return {
    issuer,
    audience: config['admin.oidc.audience'] ?? [],
    claim: config['admin.oidc.claim'],
    write: config['admin.oidc.write'] ?? [],
    read: config['admin.oidc.read'] ?? [],
    name: config['admin.oidc.name'],
  }
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
  const protocol = config['tls.cert'] === undefined ? 'http' : 'https'
  return `${protocol}://${inUrl(config['listen.host'])}:${config['listen.port']}`
}

/** The address at which this machine reaches the admin port of the settings. */
export function adminUrl(config: Config): string {
  const host = config['admin.host']
  return `http://${EVERY.includes(host) ? '127.0.0.1' : inUrl(host)}:${config['admin.port']}`
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The settings of the notifier. */
export function notifySettings(config: Config) {
  return {
    url: config['notify.url'],
    secrets: secretsIn(config['notify.secret'] ?? ''),
    source: config['notify.source'],
    page: adminSettings(config).page,
    timeoutMs: config['notify.timeoutMs'],
    attempts: config['notify.attempts'],
  }
}

/** The times in which a process leaves. */
export function retirement(config: Config) {
  return { drainMs: config['limits.drainMs'], lingerMs: config['limits.lingerMs'], shutdownMs: config['limits.shutdownMs'] }
}

/** The least time in which the connections of a process that gives way are served, so that most get an answer that ends them. */
const GIVEN_WAY_MS = 5000

/** The times of a process in whose place another one listens. The port stays open, so that nothing waits for a balancer to notice. */
export function wayGiving(config: Config) {
  const { lingerMs, shutdownMs } = retirement(config)
  return { drainMs: 0, lingerMs: Math.max(lingerMs, GIVEN_WAY_MS), shutdownMs }
}

/** The part of JSON Schema that describes a configuration file. */
interface SchemaNode {
  [member: string]: unknown
  properties?: Record<string, SchemaNode>
}

/** Returns the JSON Schema (draft 7, as editors read it) of a configuration file. */
export function configSchema(): SchemaNode {
  const root: SchemaNode = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'A configuration file of Crosswalk, in JSON (with comments) or YAML',
    ...group(),
  }
  root.properties = { $schema: { type: 'string', description: 'The address of this schema, for editors' } }
  for (const key of SETTING_KEYS) place(root, key.split('.'), ofSetting(key))
  return root
}

function place(node: SchemaNode, [name = '', ...rest]: readonly string[], schema: SchemaNode): void {
  node.properties ??= {}
  if (rest.length === 0) node.properties[name] = schema
  else {
    node.properties[name] ??= group()
    place(node.properties[name], rest, schema)
  }
}

function group(): SchemaNode {
  return { type: 'object', additionalProperties: false }
}

function ofSetting(key: SettingKey): SchemaNode {
  const { schema, inFile = schema } = kindOf(key)
  const { $schema: _, ...node } = z.toJSONSchema(inFile, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
  const byDefault = shownValue(key, SETTINGS[key].default)
  return { description: `${SETTINGS[key].help}.`, ...(byDefault !== undefined && { default: byDefault }), ...(node as SchemaNode) }
}

/**
 * Reads settings that a program gives as a value, nested as in a configuration file. Nothing else is read: no environment and no file but
 * those that a setting names. A member that is undefined counts as absent. `refused` are the settings that have no meaning here, with what to
 * do instead; `defaults` differ from those of the command line. Returns the settings that were given too, or a sentence for each problem.
 */
export function readGivenSettings(
  value: unknown,
  refused: Partial<Readonly<Record<SettingKey, string>>>,
  defaults: Partial<Config> = {},
): { readonly config: Config; readonly given: ReadonlySet<SettingKey> } | { readonly problem: string } {
  if (!isObject(value)) return { problem: 'The settings must be one object, such as { upstream: { v2: "https://api.example.com" } }.' }
  const values: Partial<Record<SettingKey, unknown>> = {}
  const problems: string[] = []
  for (const { key, value: given } of membersOf(value)) {
    if (given === undefined) continue
    if (!isSettingKey(key)) {
      problems.push(
        `The settings have an unknown key "${key}"; ${suggestion(key, SETTING_KEYS, 'docs/reference/configuration.md lists the keys.')}`,
      )
      continue
    }
    const instead = refused[key]
    const read = SETTINGS[key].kind.schema.safeParse(given)
    if (instead !== undefined) problems.push(`${key} cannot be given here: ${instead}.`)
    else if (key in values) problems.push(`The settings have ${key} twice, in a group and by its whole name; leave one out.`)
    else if (read.success) values[key] = read.data
    else problems.push(...wrongValues(key, { value: given, source: () => 'the settings' }, read.error.issues))
  }
  const config = configWith({ ...defaults, ...(values as Partial<Config>) })
  const all = problems.length > 0 ? problems : contradictionsIn(config)
  return all.length > 0 ? { problem: all.join('\n') } : { config, given: new Set(Object.keys(values) as SettingKey[]) }
}
