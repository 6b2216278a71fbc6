import { defaultOf, envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from '../../../src/app/config/settings.ts'
import { type Block, code, markdownOf, prose, type Text } from '../../../src/tools/guide-pages.ts'

/** The page of all settings. */
export const SETTINGS_PAGE = 'settings.md'

/** Returns the page of all settings, with a heading for each so that a link can lead to it. */
export function settingsPage(): string {
  const groups = [...new Set(SETTING_KEYS.map(groupOf))]
  return markdownOf([
    { kind: 'heading', level: 1, text: ['Settings'] },
    { kind: 'text', text: ['Every setting by its key in the configuration file. How settings are given stands in Configuration.'] },
    ...groups.flatMap((group): readonly Block[] => [
      { kind: 'heading', level: 2, text: [group] },
      ...SETTING_KEYS.filter((key) => groupOf(key) === group).flatMap(settingBlocks),
    ]),
  ])
}

function groupOf(key: SettingKey): string {
  return key.split('.')[0] ?? key
}

function settingBlocks(key: SettingKey): readonly Block[] {
  const { kind, help } = SETTINGS[key]
  const value = defaultOf(key)
  const rows: readonly (readonly [string, Text])[] = [
    ['Environment', [code(envOf(key))]],
    ['Flag', [code(`--${flagOf(key)}`)]],
    ['Value', prose(kind.allowed)],
    ['Default', value === undefined ? ['none'] : [code(value)]],
  ]
  return [
    { kind: 'heading', level: 3, text: [code(key)] },
    { kind: 'text', text: [...prose(help), '.'] },
    { kind: 'list', items: rows.map(([name, text]) => [`${name}: `, ...text]) },
  ]
}
