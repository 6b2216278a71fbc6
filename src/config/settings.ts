import { DIALECTS } from '../mapping/names.ts'
import { choiceOf, flag, host, integer, type Kind, url } from './kinds.ts'

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
  'admin.host': setting(host, 'ADMIN_HOST', '127.0.0.1', 'Address of the admin endpoints'),
  'admin.port': setting(integer(0, 65_535), 'ADMIN_PORT', 8081, 'Port of the admin endpoints; 0 = any'),
  'v1.dialect': setting(
    choiceOf(...DIALECTS),
    'DIALECT',
    'specification',
    'Spelling of v1 answers: snake_case, or the published JSON names',
  ),
  'errors.notFound': setting(choiceOf('empty', 'error'), 'NOT_FOUND', 'empty', 'A missing resource: as v1 had it, or always 404'),
  unknownParameters: setting(choiceOf('drop', 'refuse'), 'UNKNOWN_PARAMETERS', 'drop', 'Query parameters that v1 did not know'),
  'v2.maskCase': setting(choiceOf('snake', 'camel'), 'MASK_CASE', 'snake', 'Spelling of field masks in a v2 query'),
  'registry.readmes': setting(flag, 'READMES', true, 'Show the readme of listed repos: one v2 call for each repo not yet known'),
  'limits.callsPerRequest': setting(integer(1, 1_000_000), 'CALLS_PER_REQUEST', 10_000, 'v2 calls that one v1 request may cost'),
  'limits.parallelCalls': setting(integer(1, 1000), 'PARALLEL_CALLS', 8, 'v2 calls of one request under way at the same time'),
  'limits.bufferedRows': setting(integer(0, 1_000_000), 'BUFFERED_ROWS', 1000, 'Rows of a list kept back before it is streamed'),
  'limits.requestBytes': setting(integer(1, 1024 * MEBIBYTE), 'REQUEST_BYTES', 16 * MEBIBYTE, 'Largest v1 request body that is translated'),
  'limits.answerBytes': setting(integer(1, 1024 * MEBIBYTE), 'ANSWER_BYTES', 64 * MEBIBYTE, 'Largest v2 answer that is read'),
  'limits.callTimeoutMs': setting(integer(1, HOUR), 'CALL_TIMEOUT_MS', 10_000, 'Time for one v2 call to answer, in milliseconds'),
  'limits.connectTimeoutMs': setting(integer(1, HOUR), 'CONNECT_TIMEOUT_MS', 3000, 'Time for a connection to stand, in milliseconds'),
  'limits.deadlineMs': setting(integer(1, HOUR), 'DEADLINE_MS', MINUTE, 'Time for one translated request, in milliseconds'),
  'limits.shutdownMs': setting(integer(0, HOUR), 'SHUTDOWN_MS', 10_000, 'Time for requests to finish after SIGTERM, in milliseconds'),
  'keep.entries': setting(integer(1, 1_000_000), 'KEEP_ENTRIES', 10_000, 'v2 answers kept for their callers (readmes, look-ups)'),
  'keep.ttlMs': setting(integer(1, HOUR), 'KEEP_TTL_MS', MINUTE, 'How long they are kept at most, in milliseconds'),
  'log.level': setting(choiceOf('trace', 'debug', 'info', 'warn', 'error', 'silent'), 'LOG_LEVEL', 'info', 'Least level of log lines'),
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
