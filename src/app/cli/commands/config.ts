import { configSchema, type Origin, type ReadSettings } from '../../config/config.ts'
import { whyRestart } from '../../config/live.ts'
import { envOf, flagOf, HIDDEN, SETTING_KEYS, type SettingKey, shownValue } from '../../config/settings.ts'
import { type Command, MISUSED } from '../command.ts'
import { configFlags, settingsFrom } from '../flags.ts'

/** Shows the settings that a start would use. */
export const config: Command = {
  usage: 'config',
  summary: 'Prints every setting with its value and its source. Secrets are hidden. Exits with 2 if a value is wrong.',
  flags: {
    given: { help: 'Leave out the defaults', switch: true },
    json: { help: 'Print one JSON object that a configuration file may hold, without secrets', switch: true },
    origins: {
      help: 'Print one JSON array: each setting with its value, its source, and whether a running proxy takes another',
      switch: true,
    },
    schema: { help: 'Print the JSON Schema of a configuration file instead', switch: true },
    ...configFlags(),
  },
  async run(flags, _, io) {
    if (flags.schema) {
      io.text(JSON.stringify(configSchema(), null, 2))
      return 0
    }
    const read = settingsFrom(flags, io)
    for (const problem of read.problems) io.err(problem)
    if (read.problems.length > 0) return MISUSED
    const rows = SETTING_KEYS.map((key) => rowOf(key, read)).filter(({ from }) => !flags.given || from !== 'default')
    if (flags.origins) io.text(JSON.stringify(rows, null, 2))
    else if (flags.json) {
      const hidden = rows.flatMap(({ key, value }) => (value === HIDDEN ? key : []))
      if (hidden.length > 0) io.err(`Left out, because they are secret: ${hidden.join(', ')}.`)
      io.text(JSON.stringify(fileOf(rows), null, 2))
    } else for (const line of table(rows)) io.out(line)
    return 0
  },
}

/** One setting. `value` is as a file may hold it, and null if there is none. */
interface ConfigRow extends Origin {
  readonly key: SettingKey
  readonly value: unknown
  readonly env: string
  readonly flag: string
  /** True if a running proxy takes a new value, or why it needs a restart. */
  readonly live: true | string
}

function rowOf(key: SettingKey, { config, origins }: ReadSettings): ConfigRow {
  return {
    key,
    value: shownValue(key, config[key]) ?? null,
    ...(origins.get(key) ?? { from: 'default' }),
    env: envOf(key),
    flag: `--${flagOf(key)}`,
    live: whyRestart(key) ?? true,
  }
}

/** Returns what a configuration file may hold: the values, nested at the dots of their keys. */
function fileOf(rows: readonly ConfigRow[]): object {
  const file: Record<string, unknown> = {}
  for (const { key, value } of rows) {
    if (value === null || value === HIDDEN) continue
    const path = key.split('.')
    const last = path.pop() ?? ''
    const group = path.reduce<Record<string, unknown>>((at, name) => {
      at[name] ??= {}
      return at[name] as Record<string, unknown>
    }, file)
    group[last] = value
  }
  return file
}

function table(rows: readonly ConfigRow[]): readonly string[] {
  const cells = rows.map(({ key, value, from, name }) => [key, textOf(value), name ?? from] as const)
  const [keys, values] = [0, 1].map((column) => Math.max(0, ...cells.map((row) => Math.min(WIDEST, row[column]?.length ?? 0))))
  return cells.map(([key, value, source]) => `${key.padEnd(keys ?? 0)}  ${value.padEnd(values ?? 0)}  ${source}`)
}

/** A longer value is shown whole, but does not widen its column. */
const WIDEST = 40

function textOf(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
