import type { Completed, CompletedCommand, Taken } from './completed.ts'

/** Returns the completions for bash 3.2 and later. They need no other package. */
export function bashCompletion({ commands, operations }: Completed): string {
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
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
    '') _crosswalk_words '${firstWords(commands)} --help --version' ;;
${commands.map(commandCase).join('\n')}
  esac
}

complete -F _crosswalk crosswalk
`
}

/** A command under another one follows it: `sandbox token`. The first word of all follows nothing. */
export function called(words: string): string {
  return words.includes(' ') ? words : ` ${words}`
}

export function firstWords(commands: readonly CompletedCommand[]): string {
  return commands
    .map(({ words }) => words)
    .filter((words) => !words.includes(' '))
    .join(' ')
}

/** The commands under a command: `token` for `sandbox`. */
export function wordsUnder(words: string, commands: readonly CompletedCommand[]): readonly string[] {
  return commands.flatMap((one) => (one.words.startsWith(`${words} `) ? [one.words.slice(words.length + 1)] : []))
}

function valueCases({ words, flags }: CompletedCommand): readonly string[] {
  return flags.flatMap(({ name, takes }) => (takes ? [`    '${words} ${name}') ${actions(takes)}return ;;`] : []))
}

function commandCase({ words, flags, takes }: CompletedCommand, _: number, commands: readonly CompletedCommand[]): string {
  const names = flags.map(({ name }) => name).join(' ')
  const under = { ...takes, words: [...wordsUnder(words, commands), ...takes.words] }
  return `    '${words}') case "$cur" in -*) _crosswalk_words '${names}' ;; *) ${actions(under)};; esac ;;`
}

function actions({ words, files, operations }: Taken): string {
  const done = [
    ...(words.length > 0 ? [`_crosswalk_words '${words.join(' ')}'; `] : []),
    ...(operations ? ['_crosswalk_words "$_crosswalk_operations"; '] : []),
    ...(files ? ['_crosswalk_files; '] : []),
  ]
  return done.length === 0 ? ': ; ' : done.join('')
}
