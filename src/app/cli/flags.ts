import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { misuse } from '../../errors.ts'
import { type CutoverQuestion, TARGET } from '../../migrate/evidence/cutover.ts'
import { coversClient, coversUse, readDismissal } from '../../migrate/evidence/terms.ts'
import type { SandboxOptions } from '../../sandbox/start.ts'
import { suggestion } from '../../tables/check.ts'
import { covers } from '../../tables/operation.ts'
import type { Tables } from '../../tables/tables.ts'
import { type JunitCase, junitText } from '../../tools/markup.ts'
import {
  type ConfigSources,
  FILE_FLAG,
  type Loaded,
  loadConfig,
  type ReadSettings,
  readSettings,
  unknownVariables,
  variableIn,
} from '../config/config.ts'
import { loadTables } from '../config/config-file.ts'
import { flag, host, integer, quotedValue, type SettingKind } from '../config/kinds.ts'
import { type Config, defaultOf, envOf, flagOf, SECTIONS, SETTING_KEYS, SETTINGS, type SettingKey, sectionOf } from '../config/settings.ts'
import { type Flag, type Flags, type Io, textOf, textsOf } from './command.ts'

/** One flag for each of these settings and one for the configuration file. */
export function configFlags(keys: readonly SettingKey[] = SETTING_KEYS): Record<string, Flag> {
  const flags = keys.map((key): [string, Flag] => [flagOf(key), flagFor(key)])
  return { ...Object.fromEntries(flags), [FILE_FLAG]: FILE }
}

const FILE: Flag = { help: 'File with any of these settings, in JSON or YAML', value: 'FILE', env: 'CROSSWALK_CONFIG' }

/** What help calls a number whose key ends so. */
const UNITS: Readonly<Record<string, string>> = { Ms: 'MS', Bytes: 'BYTES', bytes: 'BYTES', Percent: 'PERCENT', port: 'PORT' }

function flagFor(key: SettingKey): Flag {
  const { kind }: { readonly kind: SettingKind<unknown> } = SETTINGS[key]
  const unit = Object.keys(UNITS).find((end) => key.endsWith(end)) ?? ''
  const section = sectionOf(key)
  const value = UNITS[unit] ?? kind.value
  const fallback = defaultOf(key)
  return {
    help: fallback === undefined ? SETTINGS[key].help : `${SETTINGS[key].help}. Default: ${fallback}`,
    env: envOf(key),
    group: `${section} - ${SECTIONS[section]}`,
    ...(value !== undefined && { value }),
    ...(kind.choices && { choices: kind.choices }),
  }
}

/** The path of the configuration file, if there is one. */
export function configPath(flags: Flags, io: Pick<Io, 'env'>): string | undefined {
  return (textOf(flags, FILE_FLAG) ?? io.env.CROSSWALK_CONFIG) || undefined
}

/** The configuration from the flags, the environment and the file. */
export function configFrom(flags: Flags, io: Pick<Io, 'env'>): Loaded {
  return loadConfig(sourcesOf(flags, io))
}

/** The same. Throws a misuse if a setting is wrong. */
export function configOf(flags: Flags, io: Pick<Io, 'env'>): Config {
  const loaded = configFrom(flags, io)
  if ('problem' in loaded) throw misuse(loaded.problem)
  return loaded.config
}

/** The same with the source of every value and with every problem. */
export function settingsFrom(flags: Flags, io: Pick<Io, 'env'>): ReadSettings {
  return readSettings(sourcesOf(flags, io))
}

function sourcesOf(flags: Flags, io: Pick<Io, 'env'>): ConfigSources {
  const names = [FILE_FLAG, ...SETTING_KEYS.map(flagOf)]
  return { flags: Object.fromEntries(names.map((name) => [name, textOf(flags, name)])), env: io.env }
}

/** The flag of a command that reads tables. */
export const tablesFlag = { tables: flagFor('tables') }

/** Returns the tables that the settings name, or those of this package. Rejects with a misuse. */
export async function tablesFrom(flags: Flags, io: Pick<Io, 'env'>): Promise<Tables> {
  return tablesAt(configOf(flags, io).tables)
}

/** Returns the tables at a path, or those of this package. Rejects with a misuse. */
export function tablesAt(path: string | undefined): Promise<Tables> {
  return loadTables(path).catch((error: Error) => {
    throw misuse(error.message)
  })
}

/** The flag that limits a question to some operations. */
export const operationsFlag = {
  operations: { help: 'Only operations that this pattern covers, such as iam.* or *.list; may be repeated', value: 'PATTERN', more: true },
} as const

/** The flag of the commands whose answer is yes or no for each operation. */
export const junitFlag = { junit: { help: 'File to write the answer to, as JUnit for CI', value: 'FILE' } } as const

/** Writes a text to the file that a flag names, if it is given. */
export async function writeBeside(flag: string, flags: Flags, io: Io, text: () => string): Promise<void> {
  const file = textOf(flags, flag)
  if (file === undefined) return
  await writeFile(file, text())
  if (!flags.json) io.out(`written to ${file}`)
}

/** Writes a JUnit file if `--junit` asks for it. */
export function writeJunit(flags: Flags, io: Io, suite: string, cases: () => readonly JunitCase[]): Promise<void> {
  return writeBeside('junit', flags, io, () => junitText(suite, cases()))
}

/** The flags that limit a question to some operations or clients. */
export const scopeFlags: Readonly<Record<string, Flag>> = {
  ...operationsFlag,
  clients: {
    help: 'Only operations that this client calls: its hash, its subject or its name, with * as any text; may be repeated',
    value: 'CLIENT',
    more: true,
  },
}

/** The flags of the question whether traffic may move to v2. */
export const verdictFlags = {
  target: { help: `Acceptable share of wrong answers, more than 0 and less than 1. Default: ${TARGET}`, value: 'SHARE' },
  each: { help: 'Hold the target against each operation by itself. Default: against all requests together', switch: true },
  'without-v1': { help: 'Ask whether v1 can be switched off: what only v1 answers is then in the way', switch: true },
  dismiss: {
    help: "A path that no table has and that nobody needs without v1, until when, and why: 'GET /path until 2027-01-31: a reason'",
    value: 'USE',
    more: true,
  },
} as const

/** Returns the question that `verdictFlags` ask. Throws a misuse about one that is wrong, or over. */
export function questionOf(flags: Flags) {
  const target = Number(textOf(flags, 'target') ?? TARGET)
  if (!(target > 0 && target < 1))
    throw misuse(`--target is ${JSON.stringify(flags.target)}, but it must be a share between 0 and 1, such as ${TARGET}.`)
  const dismissed = textsOf(flags, 'dismiss').map((text) => {
    const read = readDismissal(text, Date.now())
    if ('problem' in read) throw misuse(read.problem)
    return read
  })
  return { target, withoutV1: flags['without-v1'] === true, isStrict: flags.each === true, dismissed }
}

/** Throws a misuse about a pattern that covers no operation. */
export function checkOperations(patterns: readonly string[], operations: readonly { readonly id: string }[]): void {
  const unfit = patterns.find((pattern) => !operations.some(({ id }) => coversUse(pattern, id)))
  if (unfit === undefined) return
  const ids = operations.map(({ id }) => id)
  const known = [...ids, ...new Set(ids.flatMap(patternsFor))]
  throw misuse(`--operations ${JSON.stringify(unfit)} fits no operation; ${suggestion(unfit, known, 'crosswalk operations lists them.')}`)
}

/** `iam.*`, `iam.groups.*` and `*.list` for `iam.groups.list`. */
function patternsFor(operation: string): readonly string[] {
  const words = operation.split('.')
  return [...words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('.')}.*`), `*.${words.at(-1)}`]
}

/** Throws a misuse about a pattern that covers no client. */
export function checkClients(patterns: readonly string[], known: CutoverQuestion['clients']): void {
  const unfit = patterns.find((pattern) => !known.some((client) => coversClient(pattern, client)))
  if (unfit === undefined) return
  const names = known.flatMap(({ caller, subject, name }) => [caller, subject, name].filter((one) => one !== undefined))
  throw misuse(
    `--clients ${JSON.stringify(unfit)} fits no client that was seen; ${suggestion(unfit, names, 'crosswalk clients lists them.')}`,
  )
}

interface SandboxFlag extends Flag {
  readonly kind: SettingKind<unknown>
}

const DATA_SETS = ['demo', 'empty', 'large']

const data: SettingKind<string> = {
  schema: z.string().refine((text) => DATA_SETS.includes(text) || text.endsWith('.json')),
  allowed: `one of ${DATA_SETS.join(', ')}, or a file whose name ends in .json`,
}

const GROUP = 'sandbox - The services that play v2 and v1'

/** The sandbox's own flags, for both `demo` and `sandbox`. */
const FLAGS = {
  'sandbox-port': {
    kind: integer(0, 65_535),
    env: 'CROSSWALK_SANDBOX_PORT',
    value: 'PORT',
    help: 'Port that the sandbox listens on. 0 = any free port. Default: 8090',
  },
  'sandbox-host': { kind: host, env: 'CROSSWALK_SANDBOX_HOST', help: 'Address that the sandbox listens on. Default: 127.0.0.1' },
  data: {
    kind: data,
    value: `${DATA_SETS.join('|')}|FILE`,
    help: 'Data of the sandbox: demo, empty, large, or a JSON file of resources in the form of v2. Default: demo',
  },
  tags: { kind: integer(1, 1_000_000), help: 'Number of tags in the repo "large" of the data set large. Default: 10000' },
  latency: { kind: integer(0, 600_000), value: 'MS', help: 'Milliseconds that the sandbox waits before every answer. Default: 0' },
  'readme-moves-repo': { kind: flag, help: 'Whether a change of a readme moves the update time of its repo. Default: false' },
} satisfies Record<string, SandboxFlag>

export const sandboxFlags: Readonly<Record<string, Flag>> = {
  ...Object.fromEntries(
    Object.entries(FLAGS).map(([name, flag]: [string, SandboxFlag]) => {
      const { value, choices } = flag.kind
      return [name, { group: GROUP, ...(value !== undefined && { value }), ...(choices && { choices }), ...flag }]
    }),
  ),
  'http-sinks': { group: GROUP, help: 'Also send events to http:// sinks, if they are on this machine', switch: true },
}

/** Throws a misuse about a variable that looks like a setting and is none. */
export function checkVariables({ env }: Pick<Io, 'env'>): void {
  const [unknown] = unknownVariables(env)
  if (unknown !== undefined) throw misuse(unknown)
}

/** Returns the sandbox's options. Throws a misuse that names the wrong value, its source and the allowed values. */
export function sandboxOptions(flags: Flags, io: Io): SandboxOptions {
  checkVariables(io)
  const values: Partial<Record<keyof typeof FLAGS, unknown>> = {}
  for (const [name, flag] of Object.entries(FLAGS) as [keyof typeof FLAGS, SandboxFlag][]) {
    const given = textOf(flags, name)
    const value = given ?? (flag.env ? variableIn(io.env, flag.env) : undefined)
    if (value === undefined) continue
    const read = flag.kind.schema.safeParse(value)
    const source = given === undefined ? `the environment variable ${flag.env}` : `the flag --${name}`
    if (!read.success) throw misuse(`${name} is ${quotedValue(value)} in ${source}, but it must be ${flag.kind.allowed}.`)
    values[name] = read.data
  }
  const {
    'sandbox-port': port,
    'sandbox-host': address,
    data: set,
    tags,
    latency: latencyMs,
    'readme-moves-repo': readmeMovesRepo,
  } = values
  const data = typeof set === 'string' && !DATA_SETS.includes(set) ? { file: set } : set
  const allowHttpSinks = flags['http-sinks'] === true
  return { host: address, port, data, tags, latencyMs, readmeMovesRepo, allowHttpSinks } as SandboxOptions
}

/** True if a pattern covers an operation: its id, a pattern with `*`, or the beginning of ids: `iam`, `iam.groups`. */
export function fitsOperation(pattern: string, id: string): boolean {
  return covers(pattern, id) || id.startsWith(`${pattern}.`)
}

/** Throws a misuse about a pattern that fits none of the operations. */
export function checkPattern(pattern: string, operations: readonly { readonly id: string }[]): void {
  if (operations.some(({ id }) => fitsOperation(pattern, id))) return
  const beginnings = operations.flatMap(({ id }) => id.split('.').map((_, at, words) => words.slice(0, at + 1).join('.')))
  throw misuse(`"${pattern}" fits no operation; ${suggestion(pattern, [...new Set(beginnings)], 'crosswalk operations lists them.')}`)
}

/** The flag that shortens a list. */
export const topFlag = {
  top: { help: 'Only the first N of the list, those with the most calls first. Totals still count all', value: 'N' },
} as const satisfies Readonly<Record<string, Flag>>

/** Returns how many rows are wanted; infinite if the flag is not given. Throws a misuse if it is wrong. */
export function topOf(flags: Flags): number {
  const text = textOf(flags, 'top')
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,6}$/.test(text)) throw misuse(`--top is ${JSON.stringify(text)}, but it must be a whole number from 1 to 9999999.`)
  return Number(text)
}
