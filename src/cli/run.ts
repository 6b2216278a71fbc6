import { existsSync, readFileSync } from 'node:fs'
import { type Command, endWith, type Io, MISUSED, type Process } from './command.ts'
import { tablesFrom } from './config-flags.ts'
import { exitCodeOf, failureLines } from './failure.ts'
import { heededSignals } from './heeded-signals.ts'
import { helpFor, overview } from './help/help.ts'
import { COMMANDS } from './known-commands.ts'
import { findCommand, unknownCommand, wrongArguments } from './parse/find-command.ts'
import { parseFlags } from './parse/parse-flags.ts'
import { printable } from './terminal/printable.ts'

const KNOWN = Object.keys(COMMANDS)
const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h'])
const VERSION: ReadonlySet<string> = new Set(['--version', '-v', '-V'])

/** Runs the command that `argv` (without node and script) names and returns its exit code. */
export async function run(argv: readonly string[], outside: Process): Promise<number> {
  const io: Io = { ...printable(outside), tables: () => tablesFrom({}, outside) }
  const [first = 'help', ...others] = argv
  if (VERSION.has(first)) return say(io, version())
  if (HELP.has(first)) return help(others, io)
  const words = findCommand(KNOWN, argv)
  const command = await COMMANDS[words]?.()
  if (!command) return endWith(io, MISUSED, unknownCommand(KNOWN, first))
  const parsed = parseFlags(words, command, argv.slice(words.split(' ').length))
  if ('problem' in parsed) return endWith(io, MISUSED, parsed.problem)
  if (parsed.flags.help) return explain(io, helpFor(command))
  const wrong = wrongArguments(words, command, parsed.args, KNOWN)
  if (wrong !== undefined) return endWith(io, MISUSED, wrong)
  try {
    const signals = command.stays && heededSignals(outside, command.stays.heeds)
    return await command.run(parsed.flags, parsed.args, { ...io, ...signals, tables: () => tablesFrom(parsed.flags, io) })
  } catch (error) {
    const code = exitCodeOf(error)
    for (const line of failureLines(error)) io.err(line)
    return code
  }
}

/** `help`, `help serve`, `help sandbox token`. */
async function help(topic: readonly string[], io: Io): Promise<number> {
  const [first] = topic
  if (first === undefined) return explain(io, overview(await everyCommand()))
  const words = findCommand(KNOWN, topic)
  const command = await COMMANDS[words]?.()
  if (!command) return endWith(io, MISUSED, unknownCommand(KNOWN, first))
  const [extra] = topic.slice(words.split(' ').length)
  const wrong = extra === undefined ? undefined : wrongArguments(words, { ...command, args: [], optional: [] }, [extra], KNOWN)
  return wrong === undefined ? explain(io, helpFor(command)) : endWith(io, MISUSED, wrong)
}

async function everyCommand(): Promise<Readonly<Record<string, Command>>> {
  return Object.fromEntries(await Promise.all(Object.entries(COMMANDS).map(async ([words, load]) => [words, await load()] as const)))
}

/** Reads the manifest beside the sources or above the build output. */
function version(): string {
  const [above = ''] = ['../../package.json', '../../../package.json'].filter((path) => existsSync(new URL(path, import.meta.url)))
  return JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')).version
}

function explain(io: Io, text: string): number {
  io.help(text)
  return 0
}

function say(io: Io, text: string): number {
  io.text(text)
  return 0
}
