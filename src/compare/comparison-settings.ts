import { readGivenSettings } from '../config/given/given-settings.ts'
import { type Config, SETTING_KEYS, type SettingKey } from '../config/settings.ts'
import type { Nested } from '../library/settings-value.ts'

/** The settings that mean something where functions are compared. */
const KEYS = [
  'diff.waiting',
  'diff.waitingBytes',
  'diff.parallel',
  'diff.perSecond',
  'diff.deadlineMs',
  'diff.answerBytes',
  'diff.learnEvery',
  'diff.ignore',
  'records.file',
  'records.bytes',
  'records.files',
  'records.memory',
  'records.values',
] as const satisfies readonly SettingKey[]

/**
 * How much is compared, what is ignored, and what is recorded: settings of docs/configuration.md, by the same names and with the same defaults.
 *
 *     const settings: ComparisonSettings = { diff: { perSecond: 20, deadlineMs: 2_000 }, records: { file: 'users.jsonl' } }
 */
export type ComparisonSettings = Nested<(typeof KEYS)[number]>

const OWN: ReadonlySet<SettingKey> = new Set(KEYS)
const REFUSED = new Map(
  SETTING_KEYS.filter((key) => !OWN.has(key)).map((key) => [key, 'it has no meaning where functions are compared'] as const),
)

/** Reads the settings. Throws an Error with a sentence for each one that is wrong. */
export function comparisonConfig(settings: ComparisonSettings): Config {
  const read = readGivenSettings(settings, { refused: REFUSED, defaults: {} })
  if ('problem' in read) throw new Error(read.problem)
  return read.config
}
