import { defaultOf, envOf, flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from '../../../src/app/config/settings.ts'
import { type Block, code, markdownOf, prose, type Text } from '../../../src/tools/guide-pages.ts'

/** The page of all settings. */
export const SETTINGS_PAGE = 'settings.md'

const HEAD = `# Settings

Every setting by its key in the configuration file. [Configuration](docs/reference/configuration.md) says how to set them, and the [glossary](docs/glossary.md) explains the words.`

/** Returns the page of all settings, with a heading for each so that a link can lead to it. */
export function settingsPage(): string {
  const groups = [...new Set(SETTING_KEYS.map(groupOf))]
  const parts = markdownOf([
    ...groups.flatMap((group): readonly Block[] => [
      { kind: 'heading', level: 2, text: [group] },
      ...SETTING_KEYS.filter((key) => groupOf(key) === group).flatMap(settingBlocks),
    ]),
  ])
  return `${HEAD}\n\n${parts}`
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
