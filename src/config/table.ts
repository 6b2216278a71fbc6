import { envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts'

/** The settings as the table of the README. */
export function settingsMarkdown(): string {
  const head = '| Key in the file | Environment and flag | Allowed | Default | |\n|---|---|---|---|---|\n'
  return head + SETTING_KEYS.map(row).join('\n')
}

function row(key: SettingKey): string {
  const { kind, help, default: value } = SETTINGS[key]
  const fallback = value === undefined ? '' : `\`${typeof value === 'object' && 'default' in value ? value.default : value}\``
  return `| \`${key}\` | \`${envOf(key)}\` \`--${flagOf(key)}\` | ${kind.allowed} | ${fallback} | ${help} |`
}
