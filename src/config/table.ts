import { envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts'

/** The settings as lines for `--help`. */
export function settingsHelp(keys: readonly SettingKey[] = SETTING_KEYS): string {
  const rows = keys.map((key) => [`--${flagOf(key)}`, `${SETTINGS[key].help}${fallback(key, ' (', ')')}`] as const)
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`).join('\n')
}

/** The settings as the table of the README. */
export function settingsMarkdown(): string {
  const head = '| Key in the file | Environment and flag | Allowed | Default | |\n|---|---|---|---|---|\n'
  return head + SETTING_KEYS.map(markdownRow).join('\n')
}

function markdownRow(key: SettingKey): string {
  const { kind, help } = SETTINGS[key]
  return `| \`${key}\` | \`${envOf(key)}\` \`--${flagOf(key)}\` | ${kind.allowed} | ${fallback(key, '`', '`')} | ${help} |`
}

function fallback(key: SettingKey, before: string, after: string): string {
  const value = SETTINGS[key].default
  return value === undefined ? '' : `${before}${value}${after}`
}
