import type { Command, Flag } from '../command.ts'
import { indented, row } from './columns.ts'

/** The commands by what they are for. What is in no group comes last. */
const GROUPS: readonly (readonly [title: string, words: readonly string[]])[] = [
  ['Run', ['demo', 'serve', 'config', 'sandbox', 'sandbox token']],
  ['Look up', ['operations', 'explain', 'openapi']],
  ['Other APIs', ['draft', 'check']],
  ['Migrate', ['clients', 'cutover', 'rollouts', 'report', 'replay', 'case']],
]

const OTHERS = 'Other'

const CLOSING = [
  'crosswalk help COMMAND explains a command, and so does COMMAND --help.',
  'crosswalk --version prints the version.',
  'Settings are flags, CROSSWALK_ variables or a file: crosswalk help serve lists them.',
]

/** The overview of all commands, by the words that call them. */
export function overview(commands: Readonly<Record<string, Command>>): string {
  const words = Object.keys(commands)
  const grouped = GROUPS.flatMap(([, some]) => some)
  const groups = [...GROUPS, [OTHERS, words.filter((one) => !grouped.includes(one))] as const]
  const blocks = groups.flatMap(([title, some]) => {
    const rows = some.flatMap((one) => (commands[one] ? row(`crosswalk ${commands[one].usage}`, commands[one].summary) : []))
    return rows.length === 0 ? [] : ['', `${title}:`, ...rows]
  })
  return ['Crosswalk serves the v1 API from v2.', ...blocks, '', ...CLOSING].join('\n')
}

const HELP: Flag = { help: 'Print this text. -h is the same', switch: true }

/** The help of one command: its flags without a group first, then each group with its title. */
export function helpFor({ usage, summary, flags }: Command): string {
  const all = Object.entries(flags)
  const titles = [...new Set(all.flatMap(([, { group }]) => group ?? []))]
  const own = all.filter(([, { group }]) => group === undefined)
  const groups = titles.map((title) => ['', `${title}:`, ...rowsOf(all.filter(([, { group }]) => group === title))])
  return [`crosswalk ${usage}`, '', ...indented(summary), '', ...rowsOf([...own, ['help', HELP]]), ...groups.flat()].join('\n')
}

function rowsOf(flags: readonly (readonly [string, Flag])[]): readonly string[] {
  return flags.flatMap(([name, flag]) => row(`--${name}${shownValue(flag)}`, helpTextOf(flag)))
}

function shownValue({ switch: isSwitch, choices, value = 'VALUE' }: Flag): string {
  return isSwitch ? '' : ` ${choices?.join('|') ?? value}`
}

function helpTextOf({ help, env }: Flag): string {
  return env === undefined ? help : `${help}. ${env}`
}
