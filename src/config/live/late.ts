import type { Config, SettingKey } from '../settings.ts'

/**
 * Returns an object whose members are read from the settings at each use, because a live setting may change meanwhile:
 * `late(config, { deadlineMs: 'limits.deadlineMs' })`. A copy of it (`{ ...late(…) }`) does not change any more.
 */
export function late<const Names extends Readonly<Record<string, SettingKey>>>(
  config: Config,
  names: Names,
): { readonly [Name in keyof Names]: Config[Names[Name]] } {
  const getters = Object.entries(names).map(([name, key]) => [name, { enumerable: true, get: () => config[key] }])
  return Object.defineProperties({}, Object.fromEntries(getters)) as { readonly [Name in keyof Names]: Config[Names[Name]] }
}
