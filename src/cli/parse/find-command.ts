import { suggestion } from '../../tables/check.ts'
import type { Command } from '../command.ts'

/** Returns the words of the command that begin `argv`, or `''`; the longer ones, `sandbox token`, win over `sandbox`. */
export function findCommand(known: readonly string[], argv: readonly string[]): string {
  const fits = (words: string) => words.split(' ').every((word, at) => argv[at] === word)
  return known.filter(fits).sort((a, b) => b.length - a.length)[0] ?? ''
}

/** Says that no command has this name. */
export function unknownCommand(known: readonly string[], word: string): string {
  const firsts = known.map((words) => words.split(' ')[0] ?? '')
  return `There is no command "${word}"; ${suggestion(word, firsts, 'crosswalk --help lists the commands.')}`
}

/** Returns a sentence about too few or too many arguments; undefined if a command takes them. */
export function wrongArguments(words: string, command: Command, given: readonly string[], known: readonly string[]): string | undefined {
  const { args = [], optional = [], more, usage } = command
  const missing = args[given.length]
  if (missing !== undefined) return `crosswalk ${words} needs ${missing}. Usage: crosswalk ${usage}`
  const extra = given[args.length + optional.length]
  if (more || extra === undefined) return undefined
  const under = known.flatMap((one) => (one.startsWith(`${words} `) ? [one.slice(words.length + 1)] : []))
  if (under.length > 0) return `crosswalk ${words} has no command "${extra}"; ${suggestion(extra, under, `it has ${under.join(', ')}.`)}`
  return `crosswalk ${words} takes ${takes(args.length + optional.length)}, and "${extra}" is one more. Usage: crosswalk ${usage}`
}

function takes(most: number): string {
  return most === 0 ? 'no arguments' : most === 1 ? 'one argument' : `${most} arguments`
}
