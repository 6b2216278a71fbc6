import { parseArgs } from 'node:util'
import { suggestion } from '../../tables/check.ts'
import type { Command, Flag, Flags } from '../command.ts'

/** What was given to a command, or a sentence about what it does not take. */
export type ParsedFlags = { readonly flags: Flags; readonly args: readonly string[] } | { readonly problem: string }

const HELP: Flag = { help: '', switch: true }

/** Reads the flags and arguments of a command. `words` call it: `sandbox token`. */
export function parseFlags(words: string, command: Pick<Command, 'flags'>, args: readonly string[]): ParsedFlags {
  const flags: Readonly<Record<string, Flag>> = { ...command.flags, help: HELP }
  const types = Object.entries(flags).map(([name, flag]) => {
    const type: 'boolean' | 'string' = flag.switch ? 'boolean' : 'string'
    return [name, { type, multiple: flag.more === true, ...(name === 'help' && { short: 'h' }) }] as const
  })
  const options = Object.fromEntries(types)
  const { values, positionals, tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const problem = problemOf(flags, token, args[token.index] ?? '', words)
    if (problem !== undefined) return { problem: `crosswalk ${words} ${problem}` }
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

function shown({ choices, value = 'VALUE' }: Flag): string {
  return choices?.join('|') ?? value
}
