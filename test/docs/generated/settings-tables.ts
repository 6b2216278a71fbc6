import { defaultOf, envOf, SETTING_KEYS, SETTINGS, type SettingKey } from '../../../src/config/settings.ts'
import { count } from './amounts.ts'

/** The part of a key before its first dot, or the whole key. */
type GroupOf<Key> = Key extends `${infer Group}.${string}` ? Group : Key

type Group = GroupOf<SettingKey>

/** One sentence about each group of settings. */
const ABOUT: Readonly<Record<Group, string>> = {
  upstream: 'The services behind the proxy.',
  listen: 'The port that clients reach.',
  workers: 'The cores that serve ([several cores](deployment.md#several-cores)).',
  tls: 'Encryption of that port. Without these two settings it speaks plain text.',
  admin: 'The port for probes, metrics, modes and evidence ([who may ask it](operations.md#who-may-ask-the-admin-port)).',
  forwarded: 'The proxies in front of Crosswalk ([deployment](deployment.md#the-address-of-the-client)).',
  v1: 'How v1 answers look ([dialects](#dialects)), and what they announce about the end of v1.',
  errors: 'How v1 answers when v2 reports an error.',
  unknownParameters: 'Query parameters without a v1 meaning.',
  v2: 'How Crosswalk writes to v2.',
  grpc: 'How gRPC calls are named towards v2, which pages may make them, and whether reflection describes them.',
  registry: 'What registry lists contain.',
  emulated: 'Reads of the kind *emulated* ([what only v1 answers](migration.md#what-only-v1-answers)).',
  modes: 'Which side answers ([modes](migration.md#modes), [rollouts](migration.md#rollouts)).',
  fallback: 'v1 as the net below v2.',
  circuit: 'How an open circuit closes ([circuits](migration.md#circuits)).',
  diff: 'Comparisons of v1 and v2 ([how they work](migration.md#how-comparison-works)).',
  records: 'Where comparisons are kept ([what is written down](security.md#what-is-written-down)).',
  store: 'What several replicas share, or one process remembers through a restart ([the store](operations.md#the-store)).',
  notify: 'Who is told when something changes ([notifications](operations.md#notifications)).',
  limits: 'What one process accepts ([what each limit protects](security.md#what-a-stranger-can-cost-at-most)).',
  keep: 'v2 answers that are kept after the request that asked for them.',
  log: 'The log on standard error ([its members](operations.md#log)).',
}

/** Every setting as Markdown, one section for each group. */
export function settingsTables(): string {
  return (Object.keys(ABOUT) as Group[]).map(section).join('\n\n')
}

function section(group: Group): string {
  const keys = SETTING_KEYS.filter((key) => key.split('.')[0] === group)
  const head = ['| Setting | Default | Meaning |', '|---|---:|---|']
  return [`### ${group}`, '', ABOUT[group], '', ...head, ...keys.map(row)].join('\n')
}

function row(key: SettingKey): string {
  const { kind, help } = SETTINGS[key]
  return `| \`${key}\`<br>\`${envOf(key)}\` | ${shownDefault(key)} | ${withKeysAsCode(help)}.<br>*${allowedOf(kind.allowed)}* |`
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
