import { configWith, type Loaded, wrongValues } from '../../config.ts'
import { suggestion } from '../../tables/check.ts'
import { isObject } from '../../tables/json.ts'
import { contradictionsIn } from '../contradictions.ts'
import { isSettingKey, membersOf } from '../file/members.ts'
import { type Config, SETTING_KEYS, SETTINGS, type SettingKey } from '../settings.ts'

/** What a program may say of settings that it cannot give. */
export interface GivenLimits {
  /** Settings that have no meaning here, with the sentence that says what to do instead. */
  readonly refused: ReadonlyMap<SettingKey, string>
  /** Defaults that differ from those of the command line. */
  readonly defaults: Partial<Config>
}

/** A configuration, and the settings that were given; or a sentence for each problem. */
export type GivenSettings = { readonly config: Config; readonly given: ReadonlySet<SettingKey> } | Extract<Loaded, { problem: string }>

/**
 * Reads settings that a program gives as a value, nested as in a configuration file. Nothing else is read: no environment and no file but
 * those that a setting names. A member that is undefined counts as absent.
 */
export function readGivenSettings(value: unknown, { refused, defaults }: GivenLimits): GivenSettings {
  if (!isObject(value)) return { problem: 'The settings must be one object, such as { upstream: { v2: "https://api.example.com" } }.' }
  const values: Partial<Record<SettingKey, unknown>> = {}
  const problems: string[] = []
  for (const { key, value: given } of membersOf(value)) {
    if (given === undefined) continue
    if (!isSettingKey(key)) {
      problems.push(`The settings have an unknown key "${key}"; ${suggestion(key, SETTING_KEYS, 'docs/configuration.md lists the keys.')}`)
      continue
    }
    const instead = refused.get(key)
    const read = SETTINGS[key].kind.schema.safeParse(given)
    if (instead !== undefined) problems.push(`${key} cannot be given here: ${instead}.`)
    else if (read.success) values[key] = read.data
    else problems.push(...wrongValues(key, { value: given, source: () => 'the settings' }, read.error.issues))
  }
  const config = configWith({ ...defaults, ...(values as Partial<Config>) })
  const all = problems.length > 0 ? problems : contradictionsIn(config)
  return all.length > 0 ? { problem: all.join('\n') } : { config, given: new Set(Object.keys(values) as SettingKey[]) }
}
