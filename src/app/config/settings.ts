import { EACH, type OperationTerms } from '../../migrate/evidence/terms.ts'
import { ALL_V2, type ModeRules } from '../../migrate/modes/rules.ts'
import type { IgnoreRule } from '../../tables/signs.ts'
import { DIALECTS } from '../../tables/uid.ts'
import {
  addresses,
  buildName,
  choiceOf,
  claim,
  clientNames,
  directNames,
  file,
  flag,
  host,
  identity,
  ignoreRules,
  integer,
  integerOr,
  issuer,
  link,
  modes,
  moment,
  namedTokens,
  names,
  operationTerms,
  origins,
  proxyUrl,
  publicOrigin,
  receiver,
  type SettingKind,
  secret,
  signingSecrets,
  storeName,
  storeUrl,
  texts,
  url,
} from './kinds.ts'

/** One setting. Parsing, `--help` and docs/reference/configuration.md all read this row. */
interface Setting<T> {
  readonly kind: SettingKind<T>
  /** The variable is `CROSSWALK_` + this; the flag is the same name in kebab-case. */
  readonly name: string
  readonly default: T
  readonly help: string
}

const setting = <T>(kind: SettingKind<T>, name: string, fallback: T, help: string): Setting<T> => ({ kind, name, default: fallback, help })

/** A setting without a default. */
const optional = <T>(kind: SettingKind<T | undefined>, name: string, help: string) => setting<T | undefined>(kind, name, undefined, help)

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MEBIBYTE = 2 ** 20

/** Every setting by its key, which is its path in the configuration file and its name in errors. */
export const SETTINGS = {
  tables: optional(
    file,
    'TABLES',
    'Module that exports the tables of another API as `tables`. Without it, Crosswalk serves the resource-management service',
  ),
  'upstream.v2': optional(url, 'UPSTREAM_V2', 'Base address of the v2 service. The command serve requires it'),
  'upstream.v1': optional(url, 'UPSTREAM_V1', 'Base address of a v1 service. It answers what v2 cannot'),
  'upstream.v2Build': optional(
    buildName,
    'UPSTREAM_V2_BUILD',
    'Your name of the v2 build, such as a version. Evidence under another name or by other tables does not count',
  ),
  'upstream.v2Grpc': setting(
    choiceOf('relay', 'rest'),
    'UPSTREAM_V2_GRPC',
    'relay',
    'How v2 gets gRPC calls of v2 and v2beta1: as gRPC (relay), or as its REST calls (rest), for a v2 service that speaks only REST',
  ),
  'upstream.v1Grpc': setting(
    choiceOf('relay', 'rest'),
    'UPSTREAM_V1_GRPC',
    'relay',
    'How v1 gets the gRPC calls that it answers: as gRPC (relay), or as its REST calls (rest), for a v1 service that speaks only REST',
  ),
  'upstream.connections': setting(
    integer(1, 10_000),
    'CONNECTIONS',
    64,
    'Maximum connections to each upstream per pool. Translated, native and gRPC traffic have a pool each',
  ),
  'upstream.connectionAgeMs': setting(
    integer(0, 86_400_000),
    'CONNECTION_AGE_MS',
    60_000,
    'Age after which a connection to an upstream takes no further request, in milliseconds, so that a name that moves to another address is followed. 0 = unlimited',
  ),
  'upstream.v2Ca': optional(
    file,
    'UPSTREAM_V2_CA',
    'File with the authorities that may sign the certificate of v2, in PEM. They take the place of those that Node trusts',
  ),
  'upstream.v2Key': optional(file, 'UPSTREAM_V2_KEY', 'File with the private key of the certificate that v2 is shown, in PEM'),
  'upstream.v2Cert': optional(
    file,
    'UPSTREAM_V2_CERT',
    'File with the certificate that v2 is shown and its chain, in PEM, for a v2 that asks its clients for one',
  ),
  'upstream.v1Ca': optional(
    file,
    'UPSTREAM_V1_CA',
    'File with the authorities that may sign the certificate of v1, in PEM. They take the place of those that Node trusts',
  ),
  'upstream.v1Key': optional(file, 'UPSTREAM_V1_KEY', 'File with the private key of the certificate that v1 is shown, in PEM'),
  'upstream.v1Cert': optional(
    file,
    'UPSTREAM_V1_CERT',
    'File with the certificate that v1 is shown and its chain, in PEM, for a v1 that asks its clients for one',
  ),
  'upstream.proxy': optional(
    proxyUrl,
    'UPSTREAM_PROXY',
    'HTTP proxy for all connections to v2 and v1, by CONNECT. HTTPS_PROXY and the like are not read. Services on this machine are reached directly',
  ),
  'upstream.noProxy': optional(
    directNames,
    'UPSTREAM_NO_PROXY',
    'Hosts that are reached without upstream.proxy: names, each with all names below it, and addresses',
  ),
  'listen.host': setting(host, 'HOST', '127.0.0.1', 'Address that the proxy listens on'),
  'listen.port': setting(integer(0, 65_535), 'PORT', 8080, 'Port that the proxy listens on. 0 = any free port'),
  workers: setting<number | 'auto'>(
    integerOr('auto', 1, 256),
    'WORKERS',
    1,
    'Processes that serve the port together, each on a core of its own, under one more that supervises them. auto = as many as there are cores. 1 = this process alone',
  ),
  'tls.key': optional(file, 'TLS_KEY', 'File with the private key of the proxy in PEM. With tls.cert, the proxy accepts TLS only'),
  'tls.cert': optional(file, 'TLS_CERT', 'File with the certificate of the proxy and its chain in PEM'),
  'tls.clientCa': optional(
    file,
    'TLS_CLIENT_CA',
    'File with the authorities that sign the certificates of clients, in PEM. With it, the port refuses clients without such a certificate',
  ),
  'admin.host': setting(host, 'ADMIN_HOST', '127.0.0.1', 'Address that the admin port listens on'),
  'admin.port': setting(integer(0, 65_535), 'ADMIN_PORT', 8081, 'Port of the admin endpoints. 0 = any free port'),
  'admin.names': optional(
    names,
    'ADMIN_NAMES',
    'Host names of the admin port beside admin.host, localhost and IP addresses. A request for any other name is refused',
  ),
  'admin.publicUrl': optional(
    publicOrigin,
    'ADMIN_PUBLIC_URL',
    'Address under which people reach the admin port. Notifications, alerts and commands link to its page, and its name counts as one of admin.names',
  ),
  'admin.token': optional(
    secret,
    'ADMIN_TOKEN',
    'Bearer token for the admin port. Without one, everybody who reaches the port may change modes',
  ),
  'admin.tokens': setting(
    namedTokens,
    'ADMIN_TOKENS',
    [],
    'Further bearer tokens that may change modes, with the names of their holders. Log lines and records tell the name',
  ),
  'admin.readToken': optional(
    secret,
    'ADMIN_READ_TOKEN',
    'Bearer token that may only read: the admin port accepts it for every GET, and for nothing that changes something',
  ),
  'admin.oidc.issuer': optional(
    issuer,
    'ADMIN_OIDC_ISSUER',
    'Identity provider whose tokens the admin port accepts beside its own: the issuer as its tokens name it. Its keys are found by OpenID Connect Discovery',
  ),
  'admin.oidc.audience': optional(
    texts,
    'ADMIN_OIDC_AUDIENCE',
    'Audience of these tokens (claim aud), which is the client ID or the API that you gave the admin port there. One of several is enough',
  ),
  'admin.oidc.claim': setting(
    claim,
    'ADMIN_OIDC_CLAIM',
    'groups',
    'Claim of these tokens whose values give a right. A name with dots leads into a claim, such as realm_access.roles',
  ),
  'admin.oidc.write': optional(texts, 'ADMIN_OIDC_WRITE', 'Values of that claim that may read and change modes'),
  'admin.oidc.read': optional(texts, 'ADMIN_OIDC_READ', 'Values of that claim that may only read'),
  'admin.oidc.name': setting(
    claim,
    'ADMIN_OIDC_NAME',
    'email',
    'Claim of these tokens that names the person in notes, log lines and records. Without it, the subject (sub) does',
  ),
  'forwarded.trusted': optional(
    addresses,
    'TRUSTED_PROXIES',
    'Proxies whose headers about the client are trusted. Crosswalk replaces the same headers of anybody else',
  ),
  'forwarded.header': setting(
    choiceOf('x-forwarded', 'forwarded'),
    'FORWARDED_HEADER',
    'x-forwarded',
    'Headers that these proxies write and that v1 and v2 receive: X-Forwarded-For, -Proto and -Host, or Forwarded',
  ),
  'v1.dialect': setting(
    choiceOf(...DIALECTS),
    'DIALECT',
    'specification',
    'Spelling of v1 answers: snake_case (specification), or the published JSON names (published)',
  ),
  'v1.deprecation': optional(
    moment,
    'V1_DEPRECATION',
    'Adds a Deprecation header with this date to v1 answers. The date may be past or future',
  ),
  'v1.sunset': optional(moment, 'V1_SUNSET', 'Adds a Sunset header with this date, the end of v1, to v1 answers'),
  'v1.successor': optional(link, 'V1_SUCCESSOR', 'Adds a Link header to v1 answers that names this address as the successor version'),
  'errors.notFound': setting(
    choiceOf('empty', 'error'),
    'NOT_FOUND',
    'empty',
    'Answer for a resource that is missing, whether a path or an id names it: as v1 answered (empty), or always 404 (error)',
  ),
  unknownParameters: setting(
    choiceOf('drop', 'refuse'),
    'UNKNOWN_PARAMETERS',
    'drop',
    'Treatment of query parameters that v1 did not know: ignore and count them (drop), or answer 400 (refuse)',
  ),
  'v2.maskCase': setting(choiceOf('snake', 'camel'), 'MASK_CASE', 'snake', 'Spelling of field masks in v2 queries'),
  'v2.replaceMask': setting(
    choiceOf('*', 'known'),
    'REPLACE_MASK',
    '*',
    'Members that a PUT replaces: all (*), or those that v1 knows (known), so that members of a newer v2 stay',
  ),
  'grpc.v2beta1': setting(
    choiceOf('as-is', 'v2'),
    'GRPC_V2BETA1',
    'as-is',
    'Package under which v2 gets gRPC calls of v2beta1: its own (as-is), or that of v2 (v2). With upstream.v2Grpc: rest, they become REST calls of v2 either way',
  ),
  'grpc.corsOrigins': optional(
    origins,
    'GRPC_CORS_ORIGINS',
    'Origins whose pages may call by gRPC-Web and Connect: origins with commas between them, or * for all. Without it, browsers refuse pages of other origins',
  ),
  'grpc.reflection': setting(
    flag,
    'GRPC_REFLECTION',
    true,
    'Answers gRPC reflection, so that grpcurl and buf curl need no proto files. Without it v2 gets the calls of reflection',
  ),
  'registry.readmes': setting(flag, 'READMES', true, 'Shows the readme of each listed repo. This costs one v2 call for each repo'),
  emulated: setting(
    choiceOf('v1-first', 'v2'),
    'EMULATED',
    'v1-first',
    'Side that answers reads that v2 can only emulate and that no rule of modes names: v1 if upstream.v1 is set (v1-first), or v2',
  ),
  modes: setting<ModeRules>(
    modes,
    'MODE',
    ALL_V2,
    'Side that answers each operation, and what is compared. Changes in the file apply without a restart',
  ),
  'clients.names': optional(
    clientNames,
    'CLIENTS_NAMES',
    'Names of clients by their hashes, as crosswalk clients and the page show them, or by their subjects if records.subjects shows these',
  ),
  'fallback.perMinute': setting(
    integer(0, 1_000_000),
    'FALLBACKS_PER_MINUTE',
    600,
    'Maximum reads per minute that v1 answers because v2 failed, for all replicas of a store together. 0 = none',
  ),
  'circuit.probePercent': setting(
    integer(0, 100),
    'CIRCUIT_PROBE_PERCENT',
    0,
    'Share of the reads of an open circuit that v1 answers and v2 is compared on. The circuit then closes itself. 0 = a person closes it',
  ),
  'diff.waiting': setting(
    integer(0, 1_000_000),
    'DIFF_WAITING',
    100,
    'Maximum comparisons that wait. Further ones are dropped and counted',
  ),
  'diff.waitingBytes': setting(
    integer(0, 16_384 * MEBIBYTE),
    'DIFF_WAITING_BYTES',
    64 * MEBIBYTE,
    'Maximum memory of the waiting comparisons together, in bytes',
  ),
  'diff.parallel': setting(integer(1, 1000), 'DIFF_PARALLEL', 4, 'Maximum comparisons at the same time'),
  'diff.perSecond': setting(
    integer(0, 1_000_000),
    'DIFF_PER_SECOND',
    100,
    'Maximum comparisons per second, so that clients do not notice them. Each 64 KiB of answers counts as one more. New kinds of requests come first. 0 = unlimited',
  ),
  'diff.deadlineMs': setting(integer(1, HOUR), 'DIFF_DEADLINE_MS', 30_000, 'Maximum time for the compared side to answer, in milliseconds'),
  'diff.answerBytes': setting(
    integer(1, 1024 * MEBIBYTE),
    'DIFF_ANSWER_BYTES',
    MEBIBYTE,
    "Maximum size of what is compared, in bytes: v1's answer, and all answers of v2 to one request together. A value counts as at least 20 bytes. Crosswalk closes the connection beyond it",
  ),
  'diff.learnEvery': setting(
    integer(0, 1_000_000),
    'DIFF_LEARN_EVERY',
    100,
    'One in this many reads asks v1 twice, to learn which values change by themselves. 0 = none',
  ),
  'diff.verifyWrites': setting(
    flag,
    'DIFF_VERIFY_WRITES',
    true,
    'Reads a resource through both sides after a write and compares the answers',
  ),
  'diff.ignore': setting<readonly IgnoreRule[]>(
    ignoreRules,
    'DIFF_IGNORE',
    [],
    'Differences that clients accept until a date, in the file or as JSON. They count as expected, and are shown with their reason',
  ),
  'cutover.each': setting(
    integer(1, 1000),
    'CUTOVER_EACH',
    EACH,
    'How often each operation and kind of request must have been seen the same, before all requests together are ready',
  ),
  'cutover.operations': setting<readonly OperationTerms[]>(
    operationTerms,
    'CUTOVER_OPERATIONS',
    [],
    'Operations with a target of their own, or accepted without proof until a date, in the file or as JSON. A known wrong answer is never accepted',
  ),
  'records.file': optional(
    file,
    'RECORDS_FILE',
    'File that comparisons are appended to as lines of JSON. Without it they are kept in memory only',
  ),
  'records.bytes': setting(
    integer(1, 1024 * MEBIBYTE),
    'RECORDS_BYTES',
    64 * MEBIBYTE,
    'Size at which the record file is renamed to .1, .2, … and a new one begins, in bytes',
  ),
  'records.files': setting(
    integer(1, 1000),
    'RECORDS_FILES',
    4,
    'Renamed record files before the oldest is overwritten, except wrong answers and uses of v1',
  ),
  'records.memory': setting(integer(1, 1_000_000), 'RECORDS_MEMORY', 1000, 'Comparisons that are kept in memory for the admin port'),
  'records.values': setting(
    choiceOf('masked', 'shown'),
    'RECORDS_VALUES',
    'masked',
    'Texts in records: hashes (masked), or readable except for what looks like a secret (shown)',
  ),
  'records.subjects': setting(flag, 'RECORDS_SUBJECTS', false, "Shows and records the subject of a client's token beside its hash"),
  'store.url': optional(
    storeUrl,
    'STORE_URL',
    'Store of what replicas share: file:PATH for one process, redis:// or rediss:// for several. Without it, a process remembers for itself and until it ends',
  ),
  'store.name': setting(
    storeName,
    'STORE_NAME',
    'default',
    'Name of the fleet. Replicas with the same name share everything, and several fleets may share one Redis',
  ),
  'store.cache': optional(
    file,
    'STORE_CACHE',
    'File with the last known modes, open circuits and epoch. A start while the store does not answer uses them. Without it, such a start is not ready',
  ),
  'store.leaseMs': setting(
    integer(0, HOUR),
    'STORE_LEASE_MS',
    0,
    'Silence of the store after which no canary gets v2, in milliseconds, so that a demotion holds even for a replica that cannot hear of it. 0 = never',
  ),
  'notify.url': optional(
    receiver,
    'NOTIFY_URL',
    'Receiver of an event for each change: modes, circuits, rollouts, operations that become ready. Only its origin is ever shown',
  ),
  'notify.secret': optional(
    signingSecrets,
    'NOTIFY_SECRET',
    'Secret that signs each event, as the receiver verifies it. With several, each signs, so that a secret can be replaced. Required by notify.url',
  ),
  'notify.source': optional(
    identity,
    'NOTIFY_SOURCE',
    'Name of this proxy in its events. Without it, urn:crosswalk: and the name of the machine',
  ),
  'notify.timeoutMs': setting(integer(1, HOUR), 'NOTIFY_TIMEOUT_MS', 15_000, 'Maximum time for the receiver to answer, in milliseconds'),
  'notify.attempts': setting(
    integer(1, 100),
    'NOTIFY_ATTEMPTS',
    12,
    'Maximum attempts to send one event. The pauses between them grow from 1 s to 5 minutes, so 12 attempts take about a quarter of an hour',
  ),
  'limits.callsPerRequest': setting(integer(1, 1_000_000), 'CALLS_PER_REQUEST', 10_000, 'Maximum v2 calls that one v1 request may cost'),
  'limits.parallelCalls': setting(integer(1, 1000), 'PARALLEL_CALLS', 8, 'Maximum v2 calls of one request at the same time'),
  'limits.bufferedRows': setting(
    integer(0, 1_000_000),
    'BUFFERED_ROWS',
    1000,
    'Maximum rows of a list that are held back before it is streamed',
  ),
  'limits.rowsPerRequest': setting(integer(1, 100_000_000), 'ROWS_PER_REQUEST', 1_000_000, 'Maximum rows of one v1 list'),
  'limits.headerBytes': setting(
    integer(1024, 16 * MEBIBYTE),
    'HEADER_BYTES',
    64 * 1024,
    'Maximum size of request line and headers together, in bytes',
  ),
  'limits.requestBytes': setting(
    integer(1, 1024 * MEBIBYTE),
    'REQUEST_BYTES',
    MEBIBYTE,
    'Maximum size of a v1 request body that is translated, and of a gRPC message as it came and inflated, in bytes. Each MiB takes up to 20 ms of the core, whoever sends it',
  ),
  'limits.bodiesBytes': setting(
    integer(1, 16_384 * MEBIBYTE),
    'BODIES_BYTES',
    32 * MEBIBYTE,
    'Maximum memory of the bodies of all translated requests together, in bytes. Requests beyond it get 503',
  ),
  'limits.answerBytes': setting(integer(1, 1024 * MEBIBYTE), 'ANSWER_BYTES', 64 * MEBIBYTE, 'Maximum size of a v2 answer, in bytes'),
  'limits.messageBytes': setting(
    integer(1, 1024 * MEBIBYTE),
    'MESSAGE_BYTES',
    100 * MEBIBYTE,
    "Maximum size of one answer over gRPC, gRPC-Web or Connect, in bytes. A list is one message there and is held until its length is known. The default is the limit of the vendor's SDK; other clients refuse more than 4 MiB unless they are told",
  ),
  'limits.messagesBytes': setting(
    integer(1, 16_384 * MEBIBYTE),
    'MESSAGES_BYTES',
    256 * MEBIBYTE,
    'Maximum memory of the long answers over gRPC, gRPC-Web and Connect together, in bytes: those of more than 64 KiB, until their clients have taken them. Calls beyond it are RESOURCE_EXHAUSTED',
  ),
  'limits.clientConnections': setting(
    integer(0, 1_000_000),
    'CLIENT_CONNECTIONS',
    4000,
    'Maximum client connections. Further ones are closed at once. 0 = unlimited',
  ),
  'limits.streams': setting(
    integer(1, 100_000),
    'STREAMS',
    100,
    'Maximum concurrent requests of one connection. An HTTP/2 client waits with more, a longer HTTP/1.1 pipeline ends the connection',
  ),
  'limits.callTimeoutMs': setting(integer(1, HOUR), 'CALL_TIMEOUT_MS', 10_000, 'Maximum time for one v2 call to answer, in milliseconds'),
  'limits.connectTimeoutMs': setting(
    integer(1, HOUR),
    'CONNECT_TIMEOUT_MS',
    3000,
    'Maximum time to open a connection to an upstream, in milliseconds',
  ),
  'limits.headersTimeoutMs': setting(
    integer(1, HOUR),
    'HEADERS_TIMEOUT_MS',
    10_000,
    'Maximum time for the headers of a request to arrive, in milliseconds',
  ),
  'limits.idleTimeoutMs': setting(
    integer(1, HOUR),
    'IDLE_TIMEOUT_MS',
    5 * MINUTE,
    'Maximum time without a byte on a connection, within a request or between two, in milliseconds',
  ),
  'limits.bodyTimeoutMs': setting(
    integer(1, HOUR),
    'BODY_TIMEOUT_MS',
    5 * MINUTE,
    'Maximum time for a request body to arrive whole, in milliseconds. limits.deadlineMs bounds a translated body as well',
  ),
  'limits.writeTimeoutMs': setting(
    integer(1, HOUR),
    'WRITE_TIMEOUT_MS',
    MINUTE / 2,
    'Maximum time for a client to read what is written to it, or at least 16 KiB of a large answer, in milliseconds',
  ),
  'limits.streamBytes': setting(
    integer(0, 1_000_000_000),
    'STREAM_BYTES',
    1024,
    'Minimum bytes of messages that a relayed gRPC stream moves within limits.idleTimeoutMs, in both directions together. A slower one is ended. 0 = no minimum',
  ),
  'limits.webSockets': setting(integer(0, 1_000_000), 'WEB_SOCKETS', 1000, 'Maximum open WebSockets. 0 = unlimited'),
  'limits.webSocketIdleMs': setting(
    integer(1, 24 * HOUR),
    'WEB_SOCKET_IDLE_MS',
    5 * MINUTE,
    'Maximum time without a byte in either direction of a WebSocket, in milliseconds',
  ),
  'limits.requestsInFlight': setting(
    integer(0, 1_000_000),
    'REQUESTS_IN_FLIGHT',
    1000,
    'Maximum requests in progress. Further ones get 503. 0 = unlimited',
  ),
  'limits.refusalsPerSecond': setting(
    integer(0, 1_000_000),
    'REFUSALS_PER_SECOND',
    1000,
    '503 responses per second beyond which refused HTTP/1.1 connections are paused, for up to one second each. 0 = never paused',
  ),
  'limits.callerInFlight': setting(
    integer(0, 1_000_000),
    'CALLER_IN_FLIGHT',
    0,
    'Maximum requests in progress of one caller. Further ones get 429. 0 = unlimited',
  ),
  'limits.callerPerSecond': setting(
    integer(0, 1_000_000),
    'CALLER_PER_SECOND',
    0,
    'Maximum requests that one caller may begin per second. Further ones get 429. 0 = unlimited',
  ),
  'limits.deadlineMs': setting(integer(1, HOUR), 'DEADLINE_MS', MINUTE, 'Maximum time for one translated request, in milliseconds'),
  'limits.shutdownMs': setting(
    integer(0, HOUR),
    'SHUTDOWN_MS',
    10_000,
    'Maximum time for requests in progress to finish after SIGTERM, in milliseconds',
  ),
  'limits.drainMs': setting(
    integer(0, HOUR),
    'DRAIN_MS',
    0,
    'Time after SIGTERM during which /readyz fails and everything is served, in milliseconds. For balancers that ask /readyz',
  ),
  'limits.lingerMs': setting(
    integer(0, HOUR),
    'LINGER_MS',
    0,
    'Time after limits.drainMs during which only open connections are served, in milliseconds. For balancers such as nginx that detect shutdown by a refused connection',
  ),
  'keep.entries': setting(integer(1, 1_000_000), 'KEEP_ENTRIES', 10_000, 'Maximum readmes of v2 that are kept for their callers'),
  'keep.ttlMs': setting(
    integer(0, HOUR),
    'KEEP_TTL_MS',
    0,
    'Time for which a readme is shown again without asking v2, as long as its repo has the same update time, in milliseconds. 0 = never',
  ),
  'log.level': setting(
    choiceOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'LOG_LEVEL',
    'info',
    'Lowest level of log lines',
  ),
} as const

export type SettingKey = keyof typeof SETTINGS

type ValueOf<S> = S extends Setting<infer T> ? T : never

/** The whole configuration, by setting key. */
export type Config = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[]

export function envOf(key: SettingKey): string {
  return `CROSSWALK_${SETTINGS[key].name}`
}

/** Returns the default of a setting as text; undefined if it has none. */
export function defaultOf(key: SettingKey): string | undefined {
  const { default: value } = SETTINGS[key]
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return undefined
  return String(typeof value === 'object' && 'default' in value ? value.default : value)
}

/** The name of the flag without dashes. */
export function flagOf(key: SettingKey): string {
  return SETTINGS[key].name.toLowerCase().replaceAll('_', '-')
}

/** The part of a key before its first dot, or the whole key. */
type SectionOf<Key> = Key extends `${infer Section}.${string}` ? Section : Key

export type Section = SectionOf<SettingKey>

/** What the settings of each section are about, in their order in `--help` and docs/reference/configuration.md. */
export const SECTIONS: Readonly<Record<Section, string>> = {
  tables: 'What differs between the two versions of the API',
  upstream: 'The services behind the proxy',
  listen: 'The port that clients reach',
  workers: 'The cores that serve',
  tls: 'Encryption of that port, which speaks plain text without it, and the certificates of clients',
  admin: 'The port for probes, metrics, modes and evidence',
  forwarded: 'The proxies in front of Crosswalk',
  v1: 'How v1 answers look, and what they announce about the end of v1',
  errors: 'How v1 answers when v2 reports an error',
  unknownParameters: 'Query parameters without a v1 meaning',
  v2: 'How Crosswalk writes to v2',
  grpc: 'How v2 is called over gRPC, which pages may call, and whether reflection describes the calls',
  registry: 'What registry lists contain',
  emulated: 'Reads that v2 can only emulate',
  modes: 'Which side answers',
  clients: 'Names that people give to clients',
  fallback: 'v1 as a fallback for v2',
  circuit: 'How a circuit closes after too many wrong answers of v2',
  diff: 'Comparisons of v1 and v2',
  cutover: 'What the verdict asks of operations',
  records: 'Where comparisons are kept',
  store: 'What several replicas share, or one process remembers through a restart',
  notify: 'Who is told when something changes',
  limits: 'What one process accepts',
  keep: 'v2 answers that are kept after the request that asked for them',
  log: 'The log on standard error',
}

export function sectionOf(key: SettingKey): Section {
  return key.split('.')[0] as Section
}

/** The keys of a section, in the order of the settings. */
export function keysIn(section: Section): readonly SettingKey[] {
  return SETTING_KEYS.filter((key) => sectionOf(key) === section)
}

/** What stands in the place of a secret. */
export const HIDDEN = '(secret)'

/** Returns the kind of a setting, whatever its values are. */
export function kindOf(key: SettingKey): SettingKind<unknown> {
  return SETTINGS[key].kind as SettingKind<unknown>
}

/** Returns a value as a configuration file may hold it; a secret is hidden. Undefined for a setting without a value. */
export function shownValue(key: SettingKey, value: unknown): unknown {
  const { secret, written = (given: unknown) => given } = kindOf(key)
  if (value === undefined || (secret && Array.isArray(value) && value.length === 0)) return undefined
  return secret ? HIDDEN : written(value as object)
}
