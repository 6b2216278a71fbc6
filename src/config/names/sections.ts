import { SETTING_KEYS, type SettingKey } from '../settings.ts'

/** The part of a key before its first dot, or the whole key. */
type SectionOf<Key> = Key extends `${infer Section}.${string}` ? Section : Key

export type Section = SectionOf<SettingKey>

/** What the settings of each section are about, in their order in `--help` and docs/configuration.md. */
export const SECTIONS: Readonly<Record<Section, string>> = {
  tables: 'What differs between the two versions of the API',
  upstream: 'The services behind the proxy',
  listen: 'The port that clients reach',
  workers: 'The cores that serve',
  tls: 'Encryption of that port. Without these two settings it speaks plain text',
  admin: 'The port for probes, metrics, modes and evidence',
  forwarded: 'The proxies in front of Crosswalk',
  v1: 'How v1 answers look, and what they announce about the end of v1',
  errors: 'How v1 answers when v2 reports an error',
  unknownParameters: 'Query parameters without a v1 meaning',
  v2: 'How Crosswalk writes to v2',
  grpc: 'How v2 is called over gRPC, which pages may call, and whether reflection describes the calls',
  registry: 'What registry lists contain',
  emulated: 'Reads that v2 can only emulate',
  modes: 'Which side answers',
  fallback: 'v1 as the net below v2',
  circuit: 'How an open circuit closes',
  diff: 'Comparisons of v1 and v2',
  records: 'Where comparisons are kept',
  store: 'What several replicas share, or one process remembers through a restart',
  notify: 'Who is told when something changes',
  limits: 'What one process accepts',
  keep: 'v2 answers that are kept after the request that asked for them',
  log: 'The log on standard error',
}

export function sectionOf(key: SettingKey): Section {
  return key.split('.')[0] as Section
}

/** The keys of a section, in the order of the settings. */
export function keysIn(section: Section): readonly SettingKey[] {
  return SETTING_KEYS.filter((key) => sectionOf(key) === section)
}
