import type { SettingKind } from '../config/kinds.ts'
import { SECTIONS, sectionOf } from '../config/names/sections.ts'
import { defaultOf, envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from '../config/settings.ts'
import { type ConfigSources, FILE_FLAG, type Loaded, loadConfig, type ReadSettings, readSettings } from '../config.ts'
import { misuse } from '../errors.ts'
import { loadTables } from '../server/tables/load-tables.ts'
import type { Tables } from '../tables/tables.ts'
import { type Flag, type Flags, type Io, textOf } from './command.ts'

/** One flag for each of these settings and one for the configuration file. */
export function configFlags(keys: readonly SettingKey[] = SETTING_KEYS): Record<string, Flag> {
  const flags = keys.map((key): [string, Flag] => [flagOf(key), flagFor(key)])
  return { ...Object.fromEntries(flags), [FILE_FLAG]: FILE }
}

const FILE: Flag = { help: 'File with any of these settings, in JSON or YAML', value: 'FILE', env: 'CROSSWALK_CONFIG' }

/** What help calls a number whose key ends so. */
const UNITS: Readonly<Record<string, string>> = { Ms: 'MS', Bytes: 'BYTES', bytes: 'BYTES', Percent: 'PERCENT', port: 'PORT' }

function flagFor(key: SettingKey): Flag {
  const { kind }: { readonly kind: SettingKind<unknown> } = SETTINGS[key]
  const unit = Object.keys(UNITS).find((end) => key.endsWith(end)) ?? ''
  const section = sectionOf(key)
  const value = UNITS[unit] ?? kind.value
  return {
    help: helpOf(key),
    env: envOf(key),
    group: `${section} - ${SECTIONS[section]}`,
    ...(value !== undefined && { value }),
    ...(kind.choices && { choices: kind.choices }),
  }
}

/** The path of the configuration file, if there is one. */
export function configPath(flags: Flags, io: Pick<Io, 'env'>): string | undefined {
  return (textOf(flags, FILE_FLAG) ?? io.env.CROSSWALK_CONFIG) || undefined
}

/** The configuration from the flags, the environment and the file. */
export function configFrom(flags: Flags, io: Pick<Io, 'env'>): Loaded {
  return loadConfig(sourcesOf(flags, io))
}

/** The same with the source of every value and with every problem. */
export function settingsFrom(flags: Flags, io: Pick<Io, 'env'>): ReadSettings {
  return readSettings(sourcesOf(flags, io))
}

function sourcesOf(flags: Flags, io: Pick<Io, 'env'>): ConfigSources {
  const names = [FILE_FLAG, ...SETTING_KEYS.map(flagOf)]
  return { flags: Object.fromEntries(names.map((name) => [name, textOf(flags, name)])), env: io.env }
}

function helpOf(key: SettingKey): string {
  const { help } = SETTINGS[key]
  const value = defaultOf(key)
  return value === undefined ? help : `${help}. Default: ${value}`
}

/** The flag of a command that reads tables. */
export const tablesFlag = { tables: configFlags(['tables']).tables ?? { help: '' } }

/** Returns the tables that the settings name, or those of this package. Rejects with a misuse. */
export async function tablesFrom(flags: Flags, io: Pick<Io, 'env'>): Promise<Tables> {
  const loaded = configFrom(flags, io)
  if ('problem' in loaded) throw misuse(loaded.problem)
  try {
    return await loadTables(loaded.config.tables)
  } catch (error) {
    throw misuse((error as Error).message)
  }
}
