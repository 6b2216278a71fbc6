import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { suggestion } from '../tables/suggestion.ts'
import { type Command, endWith, FAILED, type Flags, type Io, MISUSED, type Process } from './command.ts'
import { failureLines } from './failure.ts'
import { helpFor, overview } from './help.ts'
import { COMMANDS } from './known-commands.ts'
import { printable } from './printable.ts'

/** Runs the command that `argv` (without node and script) names and returns its exit code. */
export async function run(argv: readonly string[], outside: Process): Promise<number> {
  const io = printable(outside)
  const [first = '--help'] = argv
  if (first === '--version') return say(io, version())
  if (first === '--help' || first === 'help') return say(io, overview(await Promise.all(Object.values(COMMANDS).map((load) => load()))))
  const words = find(argv)
  const command = await COMMANDS[words]?.()
  if (!command) return endWith(io, MISUSED, unknownCommand(first))
  const parsed = parse(words, command, argv.slice(words.split(' ').length))
  if ('problem' in parsed) return endWith(io, MISUSED, parsed.problem)
  if (parsed.flags.help) return say(io, helpFor(command))
  if (!takes(command, parsed.args.length)) return endWith(io, MISUSED, `Usage: crosswalk ${command.usage}`)
  try {
    return await command.run(parsed.flags, parsed.args, io)
  } catch (error) {
    for (const line of failureLines(error)) io.err(line)
    return FAILED
  }
}

/** Returns the words of the command that begin `argv`, or `''`; the longer ones, `sandbox token`, win over `sandbox`. */
function find(argv: readonly string[]): string {
  const fits = (words: string) => words.split(' ').every((word, at) => argv[at] === word)
  return (
    Object.keys(COMMANDS)
      .filter(fits)
      .sort((a, b) => b.length - a.length)[0] ?? ''
  )
}

function takes({ args = [], optional = [], more }: Command, given: number): boolean {
  return given >= args.length && (more === true || given <= args.length + optional.length)
}

function parse(words: string, command: Command, args: readonly string[]): { flags: Flags; args: readonly string[] } | { problem: string } {
  const types = Object.entries(command.flags).map(([name, flag]) => {
    return [name, { type: flag.switch ? 'boolean' : 'string', multiple: flag.more === true }] as const
  })
  try {
    const options = { ...Object.fromEntries(types), help: { type: 'boolean' as const } }
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { flags: values as Flags, args: positionals }
  } catch (error) {
    return { problem: unknownFlag(words, command, error as NodeJS.ErrnoException) }
  }
}

function unknownFlag(words: string, command: Command, { code, message }: NodeJS.ErrnoException): string {
  const name = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--([^' ]+)/.exec(message)?.[1] : undefined
  if (name === undefined) return `crosswalk ${words}: ${message.split('\n')[0]}.`
  const flags = Object.keys(command.flags).map((flag) => `--${flag}`)
  return `crosswalk ${words} has no flag --${name}; ${suggestion(`--${name}`, flags, `crosswalk ${words} --help lists its flags.`)}`
}

function unknownCommand(word: string): string {
  const firsts = Object.keys(COMMANDS).map((words) => words.split(' ')[0] ?? '')
  return `There is no command "${word}"; ${suggestion(word, firsts, 'crosswalk --help lists the commands.')}`
}

/** Reads the manifest beside the sources or above the build output. */
function version(): string {
  const [above = ''] = ['../../package.json', '../../../package.json'].filter((path) => existsSync(new URL(path, import.meta.url)))
  return JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')).version
}

function say(io: Io, text: string): number {
  io.text(text)
  return 0
}
