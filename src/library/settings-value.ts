import type { Config, SettingKey } from '../config/settings.ts'
import type { WrittenModes } from '../migrate/modes/rules.ts'
import type { Mode } from '../serve/sides.ts'
import type { IgnoreRule } from '../tables/signs.ts'

type Several = string | readonly string[]

/** How these settings are written; every other one is written as it is read. */
interface WrittenSettings {
  readonly modes: Mode | WrittenModes
  readonly 'v1.deprecation': string
  readonly 'v1.sunset': string
  readonly 'admin.names': Several
  readonly 'admin.tokens': string | Readonly<Record<string, string>>
  readonly 'forwarded.trusted': Several
  readonly 'grpc.corsOrigins': Several
  readonly 'notify.secret': Several
  readonly 'diff.ignore': readonly (Omit<IgnoreRule, 'until'> & { readonly until: string })[]
}

type ValueOf<Key extends SettingKey> = Key extends keyof WrittenSettings ? WrittenSettings[Key] : NonNullable<Config[Key]>

/** Settings that a program cannot give, and what to do instead. */
export const ELSEWHERE = {
  tables: 'give the tables themselves as an option, { tables }',
  workers: 'a program starts processes of its own, and each makes its own Crosswalk',
  'log.level': 'the logger of the option log has a level of its own',
} as const satisfies Partial<Record<SettingKey, string>>

const OWNERS = 'it belongs to the server that you register Crosswalk in'

/** Settings of the port for clients. Inside a server of somebody else, its owner decides about the port. */
export const PORT = {
  'listen.host': OWNERS,
  'listen.port': OWNERS,
  'tls.key': OWNERS,
  'tls.cert': OWNERS,
  'limits.headerBytes': OWNERS,
  'limits.headersTimeoutMs': OWNERS,
  'limits.idleTimeoutMs': OWNERS,
  'limits.clientConnections': OWNERS,
  'limits.streams': OWNERS,
  'limits.refusalsPerSecond': OWNERS,
  'limits.drainMs': OWNERS,
  'limits.lingerMs': OWNERS,
} as const satisfies Partial<Record<SettingKey, string>>

/** Settings nested at the dots of their keys, as in a configuration file. */
export type Nested<Key extends SettingKey> = {
  readonly [Name in Key as Name extends `${string}.${string}` ? never : Name]?: ValueOf<Name> | undefined
} & {
  readonly [Section in Key as Section extends `${infer Name}.${string}` ? Name : never]?: Section extends `${infer Name}.${string}`
    ? {
        readonly [Member in Extract<Key, `${Name}.${string}`> as Member extends `${Name}.${infer Rest}` ? Rest : never]?:
          | ValueOf<Member>
          | undefined
      }
    : never
}

/** `upstream.v2` is the only setting without which nothing can be served. */
type WithV2<Settings> = Settings & { readonly upstream: { readonly v2: string } }

/**
 * The settings of docs/configuration.md, by the same names and with the same defaults, nested as in a configuration file:
 *
 *     const settings: Settings = { upstream: { v2: 'https://api.example.com' }, limits: { deadlineMs: 20_000 } }
 *
 * Only two defaults differ: without `listen.port` any free port is taken, and without `admin.port` there is no admin port.
 */
export type Settings = WithV2<Nested<Exclude<SettingKey, keyof typeof ELSEWHERE>>>

/** The settings without those of the port for clients, which somebody else's server has. */
export type HostedSettings = WithV2<Nested<Exclude<SettingKey, keyof typeof ELSEWHERE | keyof typeof PORT>>>
