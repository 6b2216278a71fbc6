import { called, wordsUnder } from './bash.ts'
import type { Completed, CompletedCommand, CompletedFlag, Taken } from './completed.ts'

/** Returns the completions for fish: a file for `~/.config/fish/completions`, or for `crosswalk completion fish | source`. */
export function fishCompletion({ commands, operations }: Completed): string {
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
${commands.flatMap((one) => linesOf(one, commands)).join('\n')}
`
}

function linesOf({ words, about, flags, takes }: CompletedCommand, commands: readonly CompletedCommand[]): readonly string[] {
  const at = `complete -c crosswalk -n "__crosswalk_at '${words}'"`
  const under = { ...takes, words: [...wordsUnder(words, commands), ...takes.words] }
  const first = words.includes(' ') ? [] : [`complete -c crosswalk -n "__crosswalk_at ''" -a ${words} -d '${about}'`]
  return [...first, ...flags.map((flag) => `${at} ${flagOf(flag)}`), ...(given(under) === '' ? [] : [`${at} ${given(under)}`])]
}

function flagOf({ name, about, takes }: CompletedFlag): string {
  const value = takes ? ` ${takes.files ? '-r' : '-x'} ${given(takes)}`.trimEnd() : ''
  return `-l ${name.slice(2)}${value} -d '${about}'`
}

function given({ words, files, operations }: Taken): string {
  const list = [...words, ...(operations ? ['$__crosswalk_operations'] : [])]
  return [...(files ? ['-F'] : []), ...(list.length > 0 ? [`-a "${list.join(' ')}"`] : [])].join(' ')
}
