import { contradiction } from './config/contradiction.ts'
import { readConfigFile } from './config/file.ts'
import type { SettingKind } from './config/kinds.ts'
import { type Config, envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from './config/settings.ts'

export interface ConfigSources {
  /** Values of flags, keyed by the flag name without dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A configuration, or one sentence that names the wrong value, its source and the allowed values. */
export type Loaded = { readonly config: Config } | { readonly problem: string }

/** The flag that names the configuration file. The variable is the same with `CROSSWALK_` in front. */
export const FILE_FLAG = 'config'

interface Given {
  readonly value: unknown
  readonly source: string
}

/** Reads the configuration. Flags override the environment, the environment overrides the file, the file overrides the defaults. */
export function loadConfig({ flags, env }: ConfigSources): Loaded {
  const path = flags[FILE_FLAG] ?? env.CROSSWALK_CONFIG
  const file = path ? readConfigFile(path) : new Map<SettingKey, unknown>()
  if ('problem' in file) return file
  const values: Partial<Record<SettingKey, unknown>> = {}
  for (const key of SETTING_KEYS) {
    const given = find(key, { flags, env }, file, path)
    if (!given) continue
    const read = SETTINGS[key].kind.schema.safeParse(given.value)
    if (!read.success) return { problem: wrongValue(key, given, read.error.issues) }
    values[key] = read.data
  }
  const config = configWith(values as Partial<Config>)
  const problem = contradiction(config)
  return problem === undefined ? { config } : { problem }
}

/** The defaults, overridden by these values. */
export function configWith(values: Partial<Config>): Config {
  const defaults = Object.fromEntries(SETTING_KEYS.map((key) => [key, SETTINGS[key].default]))
  return { ...defaults, ...values } as Config
}

/** An empty environment variable counts as unset. */
function find(key: SettingKey, { flags, env }: ConfigSources, file: ReadonlyMap<SettingKey, unknown>, path?: string): Given | undefined {
  const flag = flags[flagOf(key)]
  if (flag !== undefined) return { value: flag, source: `the flag --${flagOf(key)}` }
  const variable = env[envOf(key)]
  if (variable) return { value: variable, source: `the environment variable ${envOf(key)}` }
  return file.has(key) ? { value: file.get(key), source: `the file ${path}` } : undefined
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Names the path of a problem inside a value. Does not print a secret. */
function wrongValue(key: SettingKey, { value, source }: Given, issues: readonly Issue[]): string {
  const { kind }: { readonly kind: SettingKind<unknown> } = SETTINGS[key]
  const inside = issues.find(({ path }) => kind.secret || path.length > 0)
  if (inside) return `${[key, ...inside.path].join('.')} in ${source} ${inside.message}.`
  return `${key} is ${JSON.stringify(value)} in ${source}, but it must be ${kind.allowed}.`
}
