import { SETTING_KEYS, SETTINGS, type SettingKey } from '../../../src/app/config/settings.ts'
import { count, inBytes, inTime } from './amounts.ts'
import { withKeysAsCode } from './settings-tables.ts'

/** Settings that do not bound client input. */
const NO_BOUNDS = ['diff.ignore', 'diff.learnEvery', 'diff.verifyWrites', 'records.file', 'records.values', 'records.subjects']

const GROUPS = ['limits.', 'keep.', 'diff.', 'records.']
const ALONE: readonly SettingKey[] = ['upstream.connections', 'fallback.perMinute']

/** Every bounding setting, as Markdown. */
export function boundsTable(): string {
  const bounds = SETTING_KEYS.filter((key) => ALONE.includes(key) || GROUPS.some((group) => key.startsWith(group)))
  const rows = bounds
    .filter((key) => !NO_BOUNDS.includes(key))
    .map((key) => `| \`${key}\` | ${defaultOf(key)} | ${withKeysAsCode(SETTINGS[key].help)} |`)
  return ['| Setting | Default | What it bounds |', '|---|---:|---|', ...rows].join('\n')
}

function defaultOf(key: SettingKey): string {
  const value = Number(SETTINGS[key].default)
  if (value === 0) return key.endsWith('Ms') ? '0 s' : 'none'
  if (/bytes$/i.test(key)) return inBytes(value)
  return key.endsWith('Ms') ? inTime(value) : count(value)
}
