import { whyRestart } from '../../../src/app/config/live.ts'
import {
  defaultOf,
  envOf,
  keysIn,
  SECTIONS,
  SETTING_KEYS,
  SETTINGS,
  type Section,
  type SettingKey,
} from '../../../src/app/config/settings.ts'
import { count } from './amounts.ts'

/** Where docs say more about a section, after its sentence. */
const SEE: Partial<Readonly<Record<Section, string>>> = {
  workers: '[several cores](../how-to/many-cores.md)',
  admin: '[who may ask it](../how-to/admin-port.md)',
  forwarded: '[deployment](../how-to/balancer.md#the-address-of-the-client)',
  v1: '[dialects](#dialects)',
  emulated: '[what only v1 answers](modes.md#what-only-v1-answers)',
  modes: '[modes](modes.md), [rollouts](modes.md#rollouts)',
  circuit: '[circuits](modes.md#circuits)',
  diff: '[how they work](../why/evidence.md#what-is-compared)',
  records: '[what is written down](../why/security.md#what-is-written-down)',
  store: '[the store](../how-to/replicas.md)',
  notify: '[notifications](../how-to/notifications.md)',
  limits: '[what each limit protects](../why/security.md#what-a-stranger-can-cost-at-most)',
  log: '[its members](telemetry.md#log)',
}

/** Every setting as Markdown, one section for each group. */
export function settingsTables(): string {
  return [...(Object.keys(SECTIONS) as Section[]).map(tableOf), restarts()].join('\n\n')
}

function tableOf(section: Section): string {
  const see = SEE[section]
  const about = see === undefined ? `${SECTIONS[section]}.` : `${SECTIONS[section]} (${see}).`
  const head = ['| Setting | Default | Live | Meaning |', '|---|---:|---|---|']
  return [`### ${section}`, '', about, '', ...head, ...keysIn(section).map(row)].join('\n')
}

/** Why settings need a restart, one row for each reason. */
function restarts(): string {
  const reasons = new Map<string, SettingKey[]>()
  for (const key of SETTING_KEYS) {
    const why = whyRestart(key)
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), key])
  }
  const rows = [...reasons].map(([why, keys]) => `| ${why} | ${keys.map((key) => `\`${key}\``).join(', ')} |`)
  return ['### What needs a restart', '', '| Because | Settings |', '|---|---|', ...rows].join('\n')
}

function row(key: SettingKey): string {
  const { kind, help } = SETTINGS[key]
  return `| \`${key}\`<br>\`${envOf(key)}\` | ${shownDefault(key)} | ${liveOf(key)} | ${withKeysAsCode(help)}.<br>*${allowedOf(kind.allowed)}* |`
}

/** The reasons of the others are told below the tables, once each. */
function liveOf(key: SettingKey): string {
  return whyRestart(key) === undefined ? 'yes' : '–'
}

function allowedOf(allowed: string): string {
  const text = allowed.replace(/\d{5,}/g, (digits) => count(Number(digits)))
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll('*', '\\*')
}

function shownDefault(key: SettingKey): string {
  const value = defaultOf(key)
  return value === undefined ? '–' : `\`${value}\``
}

/** Formats the names of other settings in a help text as code. */
export function withKeysAsCode(help: string): string {
  const dotted = SETTING_KEYS.filter((key) => key.includes('.'))
  return dotted.reduce((text, key) => text.replace(new RegExp(`\\b${key.replace('.', '\\.')}\\b`, 'g'), `\`${key}\``), help)
}
