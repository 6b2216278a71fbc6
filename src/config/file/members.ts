import { isObject, type JsonObject } from '../../tables/json.ts'
import { SETTING_KEYS, type SettingKey } from '../settings.ts'
import type { MemberPath } from './parsed-file.ts'

/** A member of nested settings. */
export interface SettingMember {
  /** Its path with dots: `limits.deadlineMs`, whether or not there is such a setting. */
  readonly key: string
  readonly at: MemberPath
  readonly value: unknown
}

/** Yields each setting and each member that is none. A group without a value, as YAML may have one, is empty. */
export function* membersOf(object: JsonObject, above: readonly string[] = []): Generator<SettingMember> {
  for (const [name, value] of Object.entries(object)) {
    const at = [...above, name]
    const key = at.join('.')
    const isGroup = SETTING_KEYS.some((known) => known.startsWith(`${key}.`))
    if (isSettingKey(key) || !isGroup || !(value === null || isObject(value))) yield { key, at, value }
    else yield* membersOf(value ?? {}, at)
  }
}

export function isSettingKey(key: string): key is SettingKey {
  return (SETTING_KEYS as readonly string[]).includes(key)
}
