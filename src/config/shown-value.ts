import type { SettingKind } from './kinds.ts'
import { SETTINGS, type SettingKey } from './settings.ts'

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
