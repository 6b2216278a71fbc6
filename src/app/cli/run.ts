import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { misuse } from '../../errors.ts'
import { suggestion } from '../../tables/check.ts'
import { quotedValue } from '../config/kinds.ts'
import { SECTIONS, SETTING_KEYS, sectionOf } from '../config/settings.ts'
import {
  type Command,
  endWith,
  exitCodeOf,
  type Flag,
  type Flags,
  failureLines,
  heededSignals,
  type Io,
  MISUSED,
  type Process,
  writeText,
} from './command.ts'
import { configFlags, tablesFrom } from './flags.ts'
import { LINE, printable, wrapped } from './terminal.ts'

/** Returns the words of the command that begin `argv`, or `''`; the longer ones, `sandbox token`, win over `sandbox`. */
function findCommand(argv: readonly string[]): string {
  const fits = (words: string) => words.split(' ').every((word, at) => argv[at] === word)
  return KNOWN.filter(fits).sort((a, b) => b.length - a.length)[0] ?? ''
}

/** Throws a misuse about too few or too many arguments of a command. */
function checkArguments(words: string, command: Command, given: readonly string[]): void {
  const { args = [], optional = [], more, usage } = command
  const missing = args[given.length]
  if (missing !== undefined) throw misuse(`crosswalk ${words} needs ${missing}. Usage: crosswalk ${usage}`)
  const most = args.length + optional.length
  const extra = given[most]
  if (more || extra === undefined) return
  const under = KNOWN.flatMap((one) => (one.startsWith(`${words} `) ? [one.slice(words.length + 1)] : []))
  if (under.length > 0)
    throw misuse(`crosswalk ${words} has no command ${quotedValue(extra)}; ${suggestion(extra, under, `it has ${under.join(', ')}.`)}`)
  const takes = most === 0 ? 'no arguments' : most === 1 ? 'one argument' : `${most} arguments`
  throw misuse(`crosswalk ${words} takes ${takes}, and ${quotedValue(extra)} is one more. Usage: crosswalk ${usage}`)
}

/** Reads the flags and arguments of a command. `words` call it: `sandbox token`. Throws a misuse about what it does not take. */
function parseFlags(words: string, command: Command, args: readonly string[]): { readonly flags: Flags; readonly args: readonly string[] } {
  const flags: Readonly<Record<string, Flag>> = { ...command.flags, help: HELP_FLAG }
  const types = Object.entries(flags).map(([name, flag]) => {
    const type: 'boolean' | 'string' = flag.switch ? 'boolean' : 'string'
    return [name, { type, multiple: flag.more === true, ...(name === 'help' && { short: 'h' }) }] as const
  })
  const options = Object.fromEntries(types)
  const { values, positionals, tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName } = token
    const flag = flags[name]
    // The last one would win, and nobody would see that another was meant.
    if (flag && !flag.switch && !flag.more && seen.has(name)) throw misuse(`crosswalk ${words} takes ${rawName} once; leave one out.`)
    seen.add(name)
    const problem = problemOf(flags, token, args[token.index] ?? '', words)
    if (problem !== undefined) throw misuse(`crosswalk ${words} ${problem}`)
  }
  return { flags: values as Flags, args: positionals }
}

interface Given {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** Returns the end of a sentence that begins with the command. `raw` is the argument as it was written: `-port`, `--port=80`. */
function problemOf(
  flags: Readonly<Record<string, Flag>>,
  { name, rawName, value, inlineValue }: Given,
  raw: string,
  words: string,
): string | undefined {
  const flag = flags[name]
  if (flag === undefined) {
    const written = rawName.startsWith('--') ? rawName : raw
    const long = `--${written.replace(/^-+/, '')}`
    const known = Object.keys(flags).map((one) => `--${one}`)
    return `has no flag ${written}; ${suggestion(long, known, `crosswalk ${words} --help lists its flags.`)}`
  }
  if (flag.switch) return value === undefined ? undefined : `takes no value for ${rawName}; leave out "=${value}".`
  if (value === undefined) return `needs a value for ${rawName}: ${rawName} ${shown(flag)}.`
  // A value that looks like a flag is one whose value was forgotten.
  if (!inlineValue && /^-./.test(value)) {
    return `needs a value for ${rawName}, and ${value} looks like a flag; if it is the value, write ${rawName}=${value}`
  }
  if (!flag.only || flag.choices?.includes(value)) return undefined
  return `takes no ${rawName} ${value}; ${suggestion(value, flag.choices ?? [], `use one of ${flag.choices?.join(', ')}.`)}`
}

/** What help calls the value of a flag. */
function shown({ choices, value = 'VALUE' }: Flag): string {
  return choices?.join('|') ?? value
}

/** The left column of a table: `  --port PORT`. A longer entry has a line of its own. */
const LEFT = 30

/** Returns two columns: an entry, and its text, which is wrapped beside it. */
export function row(entry: string, text: string): readonly string[] {
  const left = `  ${entry}`
  const [first = '', ...others] = wrapped(text, LINE - LEFT)
  const rest = others.map((line) => ' '.repeat(LEFT) + line)
  if (left.length > LEFT - 2) return [left, ' '.repeat(LEFT) + first, ...rest]
  return [left.padEnd(LEFT) + first, ...rest]
}

/** Wraps a text and moves it two characters to the right. */
function indented(text: string): readonly string[] {
  return wrapped(text, LINE - 2).map((line) => `  ${line}`)
}

/** The commands by what they are for. What is in no group comes last. */
const GROUPS: readonly (readonly [title: string, words: readonly string[]])[] = [
  ['Run', ['demo', 'serve', 'config', 'sandbox', 'sandbox token']],
  ['Look up', ['operations', 'explain', 'openapi']],
  ['Other APIs', ['draft', 'check']],
  ['Migrate', ['status', 'modes', 'clients', 'cutover', 'rollouts', 'circuits', 'report', 'replay', 'case']],
]

const OTHERS = 'Other'

const CLOSING = [
  'crosswalk help COMMAND explains a command, and COMMAND --help does so in short.',
  'crosswalk help SECTION lists the settings of one section, such as limits or tls.',
  'crosswalk --version prints the version.',
  'Settings are flags, CROSSWALK_ variables or a file: crosswalk help serve lists them.',
]

/** The overview of all commands, by the words that call them. */
function overview(commands: Readonly<Record<string, Command>>): string {
  const words = Object.keys(commands)
  const grouped = GROUPS.flatMap(([, some]) => some)
  const groups = [...GROUPS, [OTHERS, words.filter((one) => !grouped.includes(one))] as const]
  const blocks = groups.flatMap(([title, some]) => {
    const rows = some.flatMap((one) => (commands[one] ? row(`crosswalk ${commands[one].usage}`, commands[one].summary) : []))
    return rows.length === 0 ? [] : ['', `${title}:`, ...rows]
  })
  return ['Crosswalk serves the v1 API from v2.', ...blocks, '', ...CLOSING].join('\n')
}

const HELP_FLAG: Flag = { help: 'Print this text. -h is the same', switch: true }

/** Sections of the settings from which on the short help names them in place of their flags. */
const MANY_SECTIONS = 4

/** The help of one command: its flags without a group first, then each group with its title. A short one only names sections of the settings. */
function helpFor({ usage, summary, flags }: Command, isShort = false): string {
  const all = Object.entries(flags)
  const titles = [...new Set(all.flatMap(([, { group }]) => group ?? []))]
  const own = all.filter(([, { group }]) => group === undefined)
  const sections = isShort ? titles.filter((title) => SECTION_TITLE.test(title)) : []
  const named = sections.length >= MANY_SECTIONS ? sections : []
  const groups = titles
    .filter((title) => !named.includes(title))
    .map((title) => ['', `${title}:`, ...rowsOf(all.filter(([, { group }]) => group === title))])
  const [words = ''] = usage.split(' ')
  const short = named.length === 0 ? [] : ['', 'Sections of the settings:', ...named.flatMap(sectionRow), '', ...indented(MORE(words))]
  return [`crosswalk ${usage}`, '', ...indented(summary), '', ...rowsOf([...own, ['help', HELP_FLAG]]), ...groups.flat(), ...short].join(
    '\n',
  )
}

/** `limits - Bounds of what is served`, as `configFlags` writes the title of a section. */
const SECTION_TITLE = /^(\w+) - (.*)$/

function sectionRow(title: string): readonly string[] {
  const [, section = '', about = ''] = SECTION_TITLE.exec(title) ?? []
  return row(section, about)
}

const MORE = (words: string) => `crosswalk help SECTION lists the flags of one section, and crosswalk help ${words} those of all.`

function rowsOf(flags: readonly (readonly [string, Flag])[]): readonly string[] {
  return flags.flatMap(([name, flag]) => row(flag.switch ? `--${name}` : `--${name} ${shown(flag)}`, helpTextOf(flag)))
}

function helpTextOf({ help, env }: Flag): string {
  return env === undefined ? help : `${help}. ${env}`
}

/** The commands by the words that call them. Each is loaded when it is needed: `cutover` starts without the parts of a server. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./commands/demo.ts')).demo,
  serve: async () => (await import('./commands/serve.ts')).serve,
  config: async () => (await import('./commands/config.ts')).config,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  'sandbox token': async () => (await import('./commands/sandbox.ts')).sandboxToken,
  operations: async () => (await import('./commands/operations.ts')).operations,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
  explain: async () => (await import('./commands/explain.ts')).explain,
  status: async () => (await import('./commands/status.ts')).status,
  modes: async () => (await import('./commands/modes.ts')).modes,
  clients: async () => (await import('./commands/clients.ts')).clients,
  cutover: async () => (await import('./commands/cutover.ts')).cutover,
  circuits: async () => (await import('./commands/rollouts.ts')).circuits,
  rollouts: async () => (await import('./commands/rollouts.ts')).rollouts,
  draft: async () => (await import('./commands/draft.ts')).draft,
  check: async () => (await import('./commands/check.ts')).check,
  case: async () => (await import('./commands/case.ts')).mismatchCase,
  report: async () => (await import('./commands/report.ts')).report,
  rehearse: async () => (await import('./commands/rehearse.ts')).rehearse,
  replay: async () => (await import('./commands/replay.ts')).replay,
  completion: async () => (await import('./completion.ts')).createCompletion(everyCommand),
}

const KNOWN = Object.keys(COMMANDS)
const FIRSTS = KNOWN.map((words) => words.split(' ')[0] ?? '')
const HELP_WORDS: ReadonlySet<string> = new Set(['help', '--help', '-h'])
const VERSION: ReadonlySet<string> = new Set(['--version', '-v', '-V'])

/** Runs the command that `argv` (without node and script) names and returns its exit code. */
export async function run(argv: readonly string[], outside: Process): Promise<number> {
  const io: Io = { ...printable(outside), tables: () => tablesFrom({}, outside) }
  const [first = 'help', ...others] = argv
  try {
    if (VERSION.has(first)) return await writeText(io, version(), undefined)
    if (HELP_WORDS.has(first)) return await help(others, io)
    const words = findCommand(argv)
    const command = await COMMANDS[words]?.()
    if (!command) throw misuse(`There is no command "${first}"; ${suggestion(first, FIRSTS, 'crosswalk --help lists the commands.')}`)
    const { flags, args } = parseFlags(words, command, argv.slice(words.split(' ').length))
    if (flags.help) return explain(io, helpFor(command, true))
    checkArguments(words, command, args)
    if (command.stays) outside.onStay?.()
    const signals = command.stays && heededSignals(outside, command.stays.heeds)
    return await command.run(flags, args, { ...io, ...signals, tables: () => tablesFrom(flags, io) })
  } catch (error) {
    const code = exitCodeOf(error)
    for (const line of failureLines(error)) io.err(line)
    return code
  }
}

/** Says that neither a command nor a section of the settings has this name. */
function unknownTopic(word: string): string {
  const known = [...FIRSTS, ...Object.keys(SECTIONS)]
  const instead = 'crosswalk --help lists the commands, and crosswalk help serve the sections of the settings.'
  return `There is no command "${word}", and no section of the settings; ${suggestion(word, known, instead)}`
}

function isSection(word: string): word is keyof typeof SECTIONS {
  return Object.hasOwn(SECTIONS, word)
}

/** The help of one section of the settings: its flags, as those of `serve`. */
function sectionHelp(section: keyof typeof SECTIONS): string {
  const flags = Object.entries(configFlags(SETTING_KEYS.filter((key) => sectionOf(key) === section)))
  const rows = rowsOf(flags.filter(([, { group }]) => group !== undefined))
  return [`${section} - ${SECTIONS[section]}`, '', ...rows, '', ...indented(SECTION_CLOSING)].join('\n')
}

const SECTION_CLOSING =
  'They are flags of crosswalk serve, demo and config, CROSSWALK_ variables, or members of a file. docs/reference/configuration.md explains them.'

/** `help`, `help serve`, `help sandbox token`, `help limits`. */
async function help(topic: readonly string[], io: Io): Promise<number> {
  const [first] = topic
  if (first === undefined) return explain(io, overview(await everyCommand()))
  const words = findCommand(topic)
  const command = await COMMANDS[words]?.()
  if (!command) return topic.length === 1 && isSection(first) ? explain(io, sectionHelp(first)) : endWith(io, MISUSED, unknownTopic(first))
  const [extra] = topic.slice(words.split(' ').length)
  if (extra !== undefined) checkArguments(words, { ...command, args: [], optional: [] }, [extra])
  return explain(io, helpFor(command))
}

async function everyCommand(): Promise<Readonly<Record<string, Command>>> {
  return Object.fromEntries(await Promise.all(Object.entries(COMMANDS).map(async ([words, load]) => [words, await load()] as const)))
}

/** Reads the manifest beside the sources or above the build output. */
function version(): string {
  const [above = ''] = ['../../../package.json', '../../../../package.json'].filter((path) => existsSync(new URL(path, import.meta.url)))
  return JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')).version
}

function explain(io: Io, text: string): number {
  io.help(text)
  return 0
}
