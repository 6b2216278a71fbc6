import { suggestion } from '../../tables/check.ts'
import { operationsOf } from '../../tables/tables.ts'
import { type Command, endWith, type Flag, MISUSED } from './command.ts'

/** What a flag or an argument takes: words, and besides them files or operations. */
interface Taken {
  readonly words: readonly string[]
  readonly files: boolean
  readonly operations: boolean
}

interface CompletedFlag {
  /** With its dashes. */
  readonly name: string
  readonly about: string
  /** Undefined for a switch. */
  readonly takes: Taken | undefined
}

/** A command as a shell completes it. */
interface CompletedCommand {
  /** The words that call it: `sandbox token`. */
  readonly words: string
  readonly about: string
  readonly flags: readonly CompletedFlag[]
  readonly takes: Taken
  /** The same, and the commands under it: `token` for `sandbox`. */
  readonly follows: Taken
}

/** What the completions of every shell are made from. */
interface Completed {
  readonly commands: readonly CompletedCommand[]
  readonly operations: readonly string[]
}

const NOTHING: Taken = { words: [], files: false, operations: false }

const HELP: CompletedFlag = { name: '--help', about: 'Print what the command takes', takes: undefined }

/** Returns what shells complete, from the commands by the words that call them. */
function completedFrom(commands: Readonly<Record<string, Command>>, operations: readonly string[]): Completed {
  const all = Object.keys(commands)
  const known = Object.entries(commands).map(([words, { summary, flags, args = [], optional = [] }]): CompletedCommand => {
    const own = Object.entries(flags).map(([name, flag]) => ({ name: `--${name}`, about: sentenceOf(flag.help), takes: takenBy(flag) }))
    const takes = joined([...args, ...optional].map(taken))
    const under = all.flatMap((one) => (one.startsWith(`${words} `) ? [one.slice(words.length + 1)] : []))
    const follows = { ...takes, words: [...under, ...takes.words] }
    return { words, about: sentenceOf(summary), flags: [...own, HELP], takes, follows }
  })
  const takes = { ...NOTHING, words: [...new Set(all.map((words) => words.split(' ')[0] ?? ''))] }
  const help = { words: 'help', about: 'Explains a command', flags: [], takes, follows: takes }
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

/** Returns the completions for bash 3.2 and later. They need no other package. */
function bashCompletion({ commands, operations }: Completed): string {
  const firsts = commands.flatMap(({ words }) => (words.includes(' ') ? [] : [words]))
  return `# Completions of crosswalk for bash: source <(crosswalk completion bash)
_crosswalk_operations='${operations.join(' ')}'

_crosswalk_words() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}

_crosswalk_files() {
  local word
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
}

_crosswalk() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command='' at
  COMPREPLY=()
  if [ "$cur" = '=' ]; then
    cur=''
  elif [ "$prev" = '=' ]; then
    prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command \${COMP_WORDS[at]}" in
${commands.map(({ words }) => `      '${called(words)}') command='${words}' ;;`).join('\n')}
    esac
  done
  case "$command $prev" in
${valueCases(commands, actions)}
  esac
  case "$command" in
    '') _crosswalk_words '${firsts.join(' ')} --help --version' ;;
${commands.map(commandCase).join('\n')}
  esac
}

complete -F _crosswalk crosswalk
`
}

/** A command under another one follows it: `sandbox token`. The first word of all follows nothing. */
function called(words: string): string {
  return words.includes(' ') ? words : ` ${words}`
}

/** The cases of bash and zsh for what flags take. */
function valueCases(commands: readonly CompletedCommand[], actionsOf: (takes: Taken) => string): string {
  const cases = commands.flatMap(({ words, flags }) =>
    flags.flatMap(({ name, takes }) => (takes ? [`    '${words} ${name}') ${actionsOf(takes)}return ;;`] : [])),
  )
  return cases.join('\n')
}

function commandCase({ words, flags, follows }: CompletedCommand): string {
  const names = flags.map(({ name }) => name).join(' ')
  return `    '${words}') case "$cur" in -*) _crosswalk_words '${names}' ;; *) ${actions(follows)};; esac ;;`
}

function actions({ words, files, operations }: Taken): string {
  const own = words.length > 0 ? `_crosswalk_words '${words.join(' ')}'; ` : ''
  return `${own}${operations ? '_crosswalk_words "$_crosswalk_operations"; ' : ''}${files ? '_crosswalk_files; ' : ''}` || ': ; '
}

/** Returns the completions for fish: a file for `~/.config/fish/completions`, or for `crosswalk completion fish | source`. */
function fishCompletion({ commands, operations }: Completed): string {
  return `# Completions of crosswalk for fish: crosswalk completion fish | source
set -g __crosswalk_operations ${operations.join(' ')}

function __crosswalk_at
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
${commands.map(({ words }) => `            case '${called(words)}'\n                set command '${words}'`).join('\n')}
        end
    end
    test "$command" = "$argv[1]"
end

complete -c crosswalk -f
complete -c crosswalk -n "__crosswalk_at ''" -l help -s h -d 'Print the commands'
complete -c crosswalk -n "__crosswalk_at ''" -l version -s v -d 'Print the version'
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf({ words, about, flags, follows }: CompletedCommand): readonly string[] {
  const at = `complete -c crosswalk -n "__crosswalk_at '${words}'"`
  const first = words.includes(' ') ? [] : [`complete -c crosswalk -n "__crosswalk_at ''" -a ${words} -d '${about}'`]
  return [...first, ...flags.map((flag) => `${at} ${flagOf(flag)}`), ...(given(follows) === '' ? [] : [`${at} ${given(follows)}`])]
}

function flagOf({ name, about, takes }: CompletedFlag): string {
  const value = takes ? ` ${takes.files ? '-r' : '-x'} ${given(takes)}`.trimEnd() : ''
  return `-l ${name.slice(2)}${value} -d '${about}'`
}

function given({ words, files, operations }: Taken): string {
  const list = [...words, ...(operations ? ['$__crosswalk_operations'] : [])]
  return [...(files ? ['-F'] : []), ...(list.length > 0 ? [`-a "${list.join(' ')}"`] : [])].join(' ')
}

/** Returns the completions for zsh: a function for a folder of `fpath`, or for `source <(…)` after `compinit`. */
function zshCompletion({ commands, operations }: Completed): string {
  const firsts = commands.flatMap(({ words, about }) => (words.includes(' ') ? [] : [`'${words}:${about}'`]))
  return `#compdef crosswalk
# Completions of crosswalk for zsh: source <(crosswalk completion zsh)
_crosswalk() {
  local command='' word prev=$words[CURRENT-1]
  local -a flags operations
  operations=(${operations.join(' ')})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$command $word" in
${commands.map(({ words }) => `      '${called(words)}') command='${words}' ;;`).join('\n')}
    esac
  done
  if compset -P 1 '--*='; then prev=\${IPREFIX%=}; fi
  case "$command $prev" in
${valueCases(commands, zshActions)}
  esac
  case "$command" in
    '') flags=(${firsts.join(' ')}); _describe command flags ;;
${commands.map(zshCommandCase).join('\n')}
  esac
}

if [ "$funcstack[1]" = _crosswalk ]; then _crosswalk "$@"; else compdef _crosswalk crosswalk; fi
`
}

function zshCommandCase({ words, flags, follows }: CompletedCommand): string {
  const names = flags.map(({ name, about }) => `'${name}:${about}'`).join(' ')
  return `    '${words}') if [[ $PREFIX == -* ]]; then flags=(${names}); _describe flag flags; else ${zshActions(follows)} fi ;;`
}

function zshActions({ words, files, operations }: Taken): string {
  const own = words.length > 0 ? `compadd -- ${words.map((word) => `'${word}'`).join(' ')}; ` : ''
  return `${own}${operations ? 'compadd -a operations; ' : ''}${files ? '_files; ' : ''}` || ': ; '
}

const SHELLS: Readonly<Record<string, (completed: Completed) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const NAMES = Object.keys(SHELLS)

/** Prints what makes a shell complete all commands, their flags and words, and operation ids. */
export function createCompletion(everyCommand: () => Promise<Readonly<Record<string, Command>>>): Command {
  return {
    usage: `completion ${NAMES.join('|')}`,
    summary:
      'Prints the completions of a shell. source <(crosswalk completion bash) loads them; for fish, crosswalk completion fish | source.',
    args: [NAMES.join('|')],
    flags: {},
    async run(_, [shell = ''], io) {
      const write = SHELLS[shell]
      if (!write)
        return endWith(io, MISUSED, `There are no completions for "${shell}"; ${suggestion(shell, NAMES, `use ${NAMES.join(', ')}.`)}`)
      // Tables of somebody else may have ids that a shell would read as more than a word.
      const operations = operationsOf(await io.tables()).flatMap(({ id }) => (/^[\w.-]+$/.test(id) ? [id] : []))
      io.text(write(completedFrom(await everyCommand(), operations)).trimEnd())
      return 0
    },
  }
}
