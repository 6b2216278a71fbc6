import type { Command, Flag } from '../command.ts'

/** What a flag or an argument takes: words, and besides them files or operations. */
export interface Taken {
  readonly words: readonly string[]
  readonly files: boolean
  readonly operations: boolean
}

export interface CompletedFlag {
  /** With its dashes. */
  readonly name: string
  readonly about: string
  /** Undefined for a switch. */
  readonly takes: Taken | undefined
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** The words that call it: `sandbox token`. */
  readonly words: string
  readonly about: string
  readonly flags: readonly CompletedFlag[]
  readonly takes: Taken
}

/** What the completions of every shell are made from. */
export interface Completed {
  readonly commands: readonly CompletedCommand[]
  readonly operations: readonly string[]
}

const NOTHING: Taken = { words: [], files: false, operations: false }

const HELP: CompletedFlag = { name: '--help', about: 'Print what the command takes', takes: undefined }

/** Returns what shells complete, from the commands by the words that call them. */
export function completedFrom(commands: Readonly<Record<string, Command>>, operations: readonly string[]): Completed {
  const known = Object.entries(commands).map(([words, { summary, flags, args = [], optional = [] }]): CompletedCommand => {
    const own = Object.entries(flags).map(([name, flag]) => ({ name: `--${name}`, about: sentenceOf(flag.help), takes: takenBy(flag) }))
    return { words, about: sentenceOf(summary), flags: [...own, HELP], takes: joined([...args, ...optional].map(taken)) }
  })
  const topics = Object.keys(commands).map((words) => words.split(' ')[0] ?? '')
  const help = { words: 'help', about: 'Explains a command', flags: [], takes: { ...NOTHING, words: [...new Set(topics)] } }
  return { commands: [...known, help], operations }
}

function takenBy({ switch: isSwitch, choices, value = '' }: Flag): Taken | undefined {
  if (isSwitch) return undefined
  return choices ? { ...NOTHING, words: choices } : taken(value)
}

/** Reads what help calls a value: `N|auto` takes a word, `demo|FILE` a word and files, `PATTERN` operations, `TABLES` a module. */
function taken(value: string): Taken {
  const parts = value.split('|')
  return {
    words: parts.filter((part) => /^[a-z][a-z\d-]*$/.test(part)),
    files: parts.some((part) => part.startsWith('FILE') || part === 'TABLES'),
    operations: parts.some((part) => part === 'PATTERN' || part.startsWith('METHOD ')),
  }
}

function joined(all: readonly Taken[]): Taken {
  return {
    words: all.flatMap(({ words }) => words),
    files: all.some(({ files }) => files),
    operations: all.some(({ operations }) => operations),
  }
}

/** The first sentence, without what a shell would read as more than text. */
function sentenceOf(text: string): string {
  const [first = ''] = text.split(/(?<=[a-z\d)])\. |: /)
  return first.replaceAll(/["'`\\$:[\]]/g, '').replace(/\.$/, '')
}
