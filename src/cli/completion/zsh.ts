import { called, wordsUnder } from './bash.ts'
import type { Completed, CompletedCommand, Taken } from './completed.ts'

/** Returns the completions for zsh: a function for a folder of `fpath`, or for `source <(…)` after `compinit`. */
export function zshCompletion({ commands, operations }: Completed): string {
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
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
    '') flags=(${commands.flatMap(firstWord).join(' ')}); _describe command flags ;;
${commands.map(commandCase).join('\n')}
  esac
}

if [ "$funcstack[1]" = _crosswalk ]; then _crosswalk "$@"; else compdef _crosswalk crosswalk; fi
`
}

function firstWord({ words, about }: CompletedCommand): readonly string[] {
  return words.includes(' ') ? [] : [described(words, about)]
}

function described(name: string, about: string): string {
  return `'${name}:${about}'`
}

function valueCases({ words, flags }: CompletedCommand): readonly string[] {
  return flags.flatMap(({ name, takes }) => (takes ? [`    '${words} ${name}') ${actions(takes)}return ;;`] : []))
}

function commandCase({ words, flags, takes }: CompletedCommand, _: number, commands: readonly CompletedCommand[]): string {
  const names = flags.map(({ name, about }) => described(name, about)).join(' ')
  const under = { ...takes, words: [...wordsUnder(words, commands), ...takes.words] }
  return `    '${words}') if [[ $PREFIX == -* ]]; then flags=(${names}); _describe flag flags; else ${actions(under)} fi ;;`
}

function actions({ words, files, operations }: Taken): string {
  const done = [
    ...(words.length > 0 ? [`compadd -- ${words.map((word) => `'${word}'`).join(' ')}; `] : []),
    ...(operations ? ['compadd -a operations; '] : []),
    ...(files ? ['_files; '] : []),
  ]
  return done.length === 0 ? ': ; ' : done.join('')
}
