import { contradictionsIn } from './config/contradictions.ts'
import { type FileValue, readConfigFile } from './config/file/config-file.ts'
import type { SettingKind } from './config/kinds.ts'
import { unknownVariables } from './config/names/known-variables.ts'
import { type Config, envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from './config/settings.ts'
import { suggestion } from './tables/check.ts'

export interface ConfigSources {
  /** Values of flags, keyed by the flag name without dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The kind of source that gives a setting its value, strongest first. */
export const ORIGINS = ['flag', 'environment', 'file', 'default'] as const

/** Where the value of a setting comes from. */
export interface Origin {
  readonly from: (typeof ORIGINS)[number]
  /** `--port`, `CROSSWALK_PORT` or `crosswalk.yaml:3:9`; absent for a default. */
  readonly name?: string
}

/** What the sources say together. */
export interface ReadSettings {
  /** A value that is wrong has its default here. */
  readonly config: Config
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

interface Given extends Origin {
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
  const file = path ? readConfigFile(path) : { values: new Map<SettingKey, FileValue>(), problems: [] }
  const values: Partial<Record<SettingKey, unknown>> = {}
  const origins = new Map<SettingKey, Origin>()
  const problems = [...unknownVariables(env), ...file.problems]
  const wrong = new Set<SettingKey>()
  for (const key of SETTING_KEYS) {
    const given = find(key, { flags, env }, file.values)
    const { from, name }: Origin = given ?? { from: 'default' }
    origins.set(key, name === undefined ? { from } : { from, name })
    if (!given) continue
    const read = SETTINGS[key].kind.schema.safeParse(given.value)
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

/** An empty environment variable counts as unset. */
function find(key: SettingKey, { flags, env }: ConfigSources, values: ReadonlyMap<SettingKey, FileValue>): Given | undefined {
  const flag = `--${flagOf(key)}`
  const value = flags[flagOf(key)]
  if (value !== undefined) return { value, from: 'flag', name: flag, source: () => `the flag ${flag}` }
  const variable = envOf(key)
  if (env[variable])
    return { value: env[variable], from: 'environment', name: variable, source: () => `the environment variable ${variable}` }
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
export function wrongValues(
  key: SettingKey,
  { value, source }: Pick<Given, 'value' | 'source'>,
  issues: readonly Issue[],
): readonly string[] {
  const { kind }: { readonly kind: SettingKind<unknown> } = SETTINGS[key]
  const inside = issues.filter(({ path }) => kind.secret || path.length > 0)
  const near = typeof value === 'string' && !kind.secret ? suggestion(value, kind.choices ?? [], '') : ''
  const end = near === '' ? '.' : `; ${near}`
  if (inside.length === 0) return [`${key} is ${JSON.stringify(value)} in ${source([])}, but it must be ${kind.allowed}${end}`]
  return inside.map(({ path, message }) => `${[key, ...path].join('.')} in ${source(path)} ${message}.`)
}
