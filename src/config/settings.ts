import { ALL_V2, type ModeRules } from '../modes/choose/rules.ts'
import { DIALECTS } from '../tables/language/names.ts'
import { addresses, names } from './addresses.ts'
import { link, moment } from './announcements.ts'
import { choiceOf, file, flag, host, integer, type Kind, modes, url } from './kinds.ts'
import { secret } from './secret.ts'

/** One setting. Parsing, `--help` and the README's table all come from this row. */
interface Setting<T> {
  readonly kind: Kind<T>
  /** `CROSSWALK_` + this; the flag is the same name in kebab-case. */
  readonly name: string
  readonly default: T
  readonly help: string
}

const setting = <T>(kind: Kind<T>, name: string, fallback: T, help: string): Setting<T> => ({ kind, name, default: fallback, help })

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MEBIBYTE = 2 ** 20

/** Every setting, by its key: the path in the configuration file and the name that errors use. */
export const SETTINGS = {
  'upstream.v2': setting<string | undefined>(url, 'UPSTREAM_V2', undefined, 'Base address of the v2 service; required by `serve`'),
  'upstream.v1': setting<string | undefined>(url, 'UPSTREAM_V1', undefined, 'Base address of a v1 service for what v2 cannot answer'),
  'upstream.connections': setting(integer(1, 10_000), 'CONNECTIONS', 64, 'Connections to each upstream'),
  'listen.host': setting(host, 'HOST', '127.0.0.1', 'Address the proxy listens on'),
  'listen.port': setting(integer(0, 65_535), 'PORT', 8080, 'Port the proxy listens on; 0 = any'),
  'tls.key': setting<string | undefined>(file, 'TLS_KEY', undefined, 'Private key of the proxy in PEM; with tls.cert it speaks TLS alone'),
  'tls.cert': setting<string | undefined>(file, 'TLS_CERT', undefined, 'Its certificate and the chain above it in PEM'),
  'admin.host': setting(host, 'ADMIN_HOST', '127.0.0.1', 'Address of the admin endpoints'),
  'admin.port': setting(integer(0, 65_535), 'ADMIN_PORT', 8081, 'Port of the admin endpoints; 0 = any'),
  'admin.names': setting<string | undefined>(
    names,
    'ADMIN_NAMES',
    undefined,
    'Names that the admin endpoints go by, beside admin.host, localhost and addresses; asked by another name they refuse',
  ),
  'admin.token': setting<string | undefined>(
    secret,
    'ADMIN_TOKEN',
    undefined,
    'Bearer token for the admin endpoints; without one, whoever reaches them may change modes',
  ),
  'admin.readToken': setting<string | undefined>(
    secret,
    'ADMIN_READ_TOKEN',
    undefined,
    'Bearer token that only reads there: everything but PUT /modes',
  ),
  'forwarded.trusted': setting<string | undefined>(
    addresses,
    'TRUSTED_PROXIES',
    undefined,
    'Proxies in front that are believed about the client; without it the headers of everybody are replaced',
  ),
  'forwarded.header': setting(
    choiceOf('x-forwarded', 'forwarded'),
    'FORWARDED_HEADER',
    'x-forwarded',
    'What those proxies write and v2 and v1 are sent: X-Forwarded-For, -Proto and -Host, or Forwarded',
  ),
  'v1.dialect': setting(
    choiceOf(...DIALECTS),
    'DIALECT',
    'specification',
    'Spelling of v1 answers: snake_case, or the published JSON names',
  ),
  'v1.deprecation': setting<number | undefined>(
    moment,
    'V1_DEPRECATION',
    undefined,
    'v1 answers say Deprecation: since, or from, this moment',
  ),
  'v1.sunset': setting<number | undefined>(moment, 'V1_SUNSET', undefined, 'v1 answers say Sunset: the moment v1 ends'),
  'v1.successor': setting<string | undefined>(
    link,
    'V1_SUCCESSOR',
    undefined,
    'v1 answers link to this address as their successor version',
  ),
  'errors.notFound': setting(
    choiceOf('empty', 'error'),
    'NOT_FOUND',
    'empty',
    'A missing resource, named by a path or by id: as v1 had it, or always 404',
  ),
  unknownParameters: setting(choiceOf('drop', 'refuse'), 'UNKNOWN_PARAMETERS', 'drop', 'Query parameters that v1 did not know'),
  'v2.maskCase': setting(choiceOf('snake', 'camel'), 'MASK_CASE', 'snake', 'Spelling of field masks in a v2 query'),
  'v2.replaceMask': setting(
    choiceOf('*', 'known'),
    'REPLACE_MASK',
    '*',
    'What a PUT replaces: all of a resource, or the members that v1 knows, so that those of a newer v2 stay',
  ),
  'registry.readmes': setting(flag, 'READMES', true, 'Show the readme of listed repos: one v2 call for each repo'),
  emulated: setting(
    choiceOf('v1-first', 'v2'),
    'EMULATED',
    'v1-first',
    'Who answers reads that v2 can only emulate and no rule of modes names: upstream.v1 where it is set, or v2',
  ),
  modes: setting<ModeRules>(
    modes,
    'MODE',
    ALL_V2,
    'Which side answers which operation, and what is compared; read again when the file changes',
  ),
  'fallback.perMinute': setting(
    integer(0, 1_000_000),
    'FALLBACKS_PER_MINUTE',
    600,
    'Reads that v2 fails and v1 may answer instead; 0 = none',
  ),
  'diff.waiting': setting(integer(0, 1_000_000), 'DIFF_WAITING', 100, 'Comparisons that may wait; further ones are dropped and counted'),
  'diff.waitingBytes': setting(integer(0, 16_384 * MEBIBYTE), 'DIFF_WAITING_BYTES', 64 * MEBIBYTE, 'Memory that they may take together'),
  'diff.parallel': setting(integer(1, 1000), 'DIFF_PARALLEL', 4, 'Comparisons under way at the same time'),
  'diff.perSecond': setting(
    integer(0, 1_000_000),
    'DIFF_PER_SECOND',
    100,
    'Comparisons made in a second, so that clients do not notice them; further ones are dropped and counted; 0 = no bound',
  ),
  'diff.deadlineMs': setting(integer(1, HOUR), 'DIFF_DEADLINE_MS', 30_000, 'Time for the asked side to answer, in milliseconds'),
  'diff.answerBytes': setting(integer(1, 1024 * MEBIBYTE), 'DIFF_ANSWER_BYTES', MEBIBYTE, 'Largest answer that is compared'),
  'diff.learnEvery': setting(
    integer(0, 1_000_000),
    'DIFF_LEARN_EVERY',
    100,
    'One in so many reads asks v1 twice to learn what is noise; 0 = none',
  ),
  'diff.verifyWrites': setting(flag, 'DIFF_VERIFY_WRITES', true, 'Read a resource through both sides after it was written'),
  'records.file': setting<string | undefined>(
    file,
    'RECORDS_FILE',
    undefined,
    'Where comparisons are appended as lines of JSON; memory alone without it',
  ),
  'records.bytes': setting(
    integer(1, 1024 * MEBIBYTE),
    'RECORDS_BYTES',
    64 * MEBIBYTE,
    'Size at which that file is set aside as .1, .2, …',
  ),
  'records.files': setting(integer(1, 1000), 'RECORDS_FILES', 4, 'Files set aside before the oldest is overwritten'),
  'records.memory': setting(integer(1, 1_000_000), 'RECORDS_MEMORY', 1000, 'Comparisons kept for the admin port'),
  'records.values': setting(
    choiceOf('masked', 'shown'),
    'RECORDS_VALUES',
    'masked',
    'Texts in records: as hashes, or readable without what looks like a secret',
  ),
  'records.subjects': setting(flag, 'RECORDS_SUBJECTS', false, "Show and record the subject of a client's token beside its hash"),
  'limits.callsPerRequest': setting(integer(1, 1_000_000), 'CALLS_PER_REQUEST', 10_000, 'v2 calls that one v1 request may cost'),
  'limits.parallelCalls': setting(integer(1, 1000), 'PARALLEL_CALLS', 8, 'v2 calls of one request under way at the same time'),
  'limits.bufferedRows': setting(integer(0, 1_000_000), 'BUFFERED_ROWS', 1000, 'Rows of a list kept back before it is streamed'),
  'limits.rowsPerRequest': setting(integer(1, 100_000_000), 'ROWS_PER_REQUEST', 1_000_000, 'Rows that one v1 list may hold'),
  'limits.headerBytes': setting(integer(1024, 16 * MEBIBYTE), 'HEADER_BYTES', 64 * 1024, 'Largest request line and headers together'),
  'limits.requestBytes': setting(integer(1, 1024 * MEBIBYTE), 'REQUEST_BYTES', 4 * MEBIBYTE, 'Largest v1 request body that is translated'),
  'limits.bodiesBytes': setting(
    integer(1, 16_384 * MEBIBYTE),
    'BODIES_BYTES',
    32 * MEBIBYTE,
    'Memory that the bodies of all translated requests take together, the excess is answered 503',
  ),
  'limits.answerBytes': setting(integer(1, 1024 * MEBIBYTE), 'ANSWER_BYTES', 64 * MEBIBYTE, 'Largest v2 answer that is read'),
  'limits.clientConnections': setting(integer(0, 1_000_000), 'CLIENT_CONNECTIONS', 4000, 'Connections of clients at a time; 0 = no bound'),
  'limits.streams': setting(
    integer(1, 100_000),
    'STREAMS',
    100,
    'Requests of one connection: over HTTP/2 a client waits with more, over HTTP/1.1 a longer pipeline ends the connection',
  ),
  'limits.callTimeoutMs': setting(integer(1, HOUR), 'CALL_TIMEOUT_MS', 10_000, 'Time for one v2 call to answer, in milliseconds'),
  'limits.connectTimeoutMs': setting(integer(1, HOUR), 'CONNECT_TIMEOUT_MS', 3000, 'Time for a connection to stand, in milliseconds'),
  'limits.headersTimeoutMs': setting(
    integer(1, HOUR),
    'HEADERS_TIMEOUT_MS',
    10_000,
    'Time for the headers of a request to arrive, in milliseconds',
  ),
  'limits.idleTimeoutMs': setting(
    integer(1, HOUR),
    'IDLE_TIMEOUT_MS',
    5 * MINUTE,
    'Time that a connection may pass without a byte, within a request or between two, in milliseconds',
  ),
  'limits.bodyTimeoutMs': setting(
    integer(1, HOUR),
    'BODY_TIMEOUT_MS',
    5 * MINUTE,
    'Time for the body of a request to come whole, in milliseconds; a translated one must keep limits.deadlineMs as well',
  ),
  'limits.writeTimeoutMs': setting(
    integer(1, HOUR),
    'WRITE_TIMEOUT_MS',
    MINUTE / 2,
    'Time for a client to take what is written to it, of a large answer 16 KiB at least, in milliseconds',
  ),
  'limits.webSockets': setting(integer(0, 1_000_000), 'WEB_SOCKETS', 1000, 'WebSockets open at the same time; 0 = no bound'),
  'limits.webSocketIdleMs': setting(
    integer(1, 24 * HOUR),
    'WEB_SOCKET_IDLE_MS',
    5 * MINUTE,
    'Time that a WebSocket may pass without a byte in either direction, in milliseconds',
  ),
  'limits.requestsInFlight': setting(
    integer(0, 1_000_000),
    'REQUESTS_IN_FLIGHT',
    1000,
    'Requests under way at the same time, the excess is answered 503; 0 = no bound',
  ),
  'limits.refusalsPerSecond': setting(
    integer(0, 1_000_000),
    'REFUSALS_PER_SECOND',
    1000,
    'Of these 503, how many in a second; beyond, a refused connection is heard again in its turn, after a second at most; 0 = no bound',
  ),
  'limits.callerInFlight': setting(integer(0, 1_000_000), 'CALLER_IN_FLIGHT', 0, 'The same for one caller, answered 429; 0 = no bound'),
  'limits.callerPerSecond': setting(
    integer(0, 1_000_000),
    'CALLER_PER_SECOND',
    0,
    'Requests that one caller may begin in a second, answered 429; 0 = no bound',
  ),
  'limits.deadlineMs': setting(integer(1, HOUR), 'DEADLINE_MS', MINUTE, 'Time for one translated request, in milliseconds'),
  'limits.shutdownMs': setting(integer(0, HOUR), 'SHUTDOWN_MS', 10_000, 'Time for requests to finish after SIGTERM, in milliseconds'),
  'limits.drainMs': setting(integer(0, HOUR), 'DRAIN_MS', 0, 'After SIGTERM: time not ready but serving, for balancers that ask /readyz'),
  'limits.lingerMs': setting(
    integer(0, HOUR),
    'LINGER_MS',
    0,
    'Then: time serving open connections only, for balancers that are refused (nginx)',
  ),
  'keep.entries': setting(integer(1, 1_000_000), 'KEEP_ENTRIES', 10_000, 'v2 answers kept for their callers (readmes, look-ups)'),
  'keep.ttlMs': setting(
    integer(0, HOUR),
    'KEEP_TTL_MS',
    0,
    'How long the readme of a repo whose update time stands still is shown again without asking v2, in milliseconds; 0 = never',
  ),
  'log.level': setting(
    choiceOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'LOG_LEVEL',
    'info',
    'Least level of log lines',
  ),
} as const

export type SettingKey = keyof typeof SETTINGS

type ValueOf<S> = S extends Setting<infer T> ? T : never

/** The whole configuration; a setting is found under its key. */
export type Config = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[]

export function envOf(key: SettingKey): string {
  return `CROSSWALK_${SETTINGS[key].name}`
}

/** Without the dashes in front. */
export function flagOf(key: SettingKey): string {
  return SETTINGS[key].name.toLowerCase().replaceAll('_', '-')
}
