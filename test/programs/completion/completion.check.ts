import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { COMMANDS } from '../../../src/app/cli/run.ts'
import { runCommand } from '../../app/cli/support.ts'
import { hasProgram, temporaryFolder } from '../../stage/programs.ts'

/** A shell that completes: the arguments that run a script, and the script that prints what it offers for the last word, one a line. */
interface Shell {
  readonly name: string
  readonly offers: (completions: string, line: readonly string[]) => readonly string[]
}

/** Returns the words that a script printed, without their descriptions. */
function lines(shell: string, args: readonly string[]): readonly string[] {
  const out = execFileSync(shell, args, { encoding: 'utf8', timeout: 20_000 })
  return out
    .split(/\r?\n/)
    .map((line) => line.split('\t')[0]?.trim() ?? '')
    .filter(Boolean)
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')

const bash: Shell = {
  name: 'bash',
  // Bash has no command that completes a line: its own variables and the function that is registered are what TAB uses.
  offers: (completions, line) =>
    lines('bash', [
      ...['--norc', '-c'],
      `source '${completions}'
      COMP_WORDS=(${quoted(line)}); COMP_CWORD=${line.length - 1}
      $(complete -p crosswalk | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]),
}

/** Zsh completes only on a terminal, so that another zsh sits at one and shows what each `compadd` would add. */
const zsh: Shell = {
  name: 'zsh',
  offers: (completions, line) =>
    lines('zsh', [
      '-fc',
      `zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z "PS1= PROMPT= RPROMPT=; unsetopt zle_bracketed_paste; stty -echo; autoload -Uz compinit; compinit -u -D; source '${completions}'"
      zpty -w z 'compadd() { if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r -- "<""<$hit>>"; done; builtin compadd "$@" }'
      zpty -w z 'done-now() { print "<""<END>>" }; zle -N done-now; bindkey "^X" done-now; zstyle ":completion:*" list-prompt ""; LISTMAX=99999; print "<""<READY>>"'
      zpty -r z said '*<<READY>>*'
      zpty -n -w z ${quoted([line.join(' ')])}$'\\t\\x18'
      zpty -r z said '*<<END>>*'
      print -r -- $said | grep -ao '<<[^>]*>>' | tr -d '<>' | grep -vx -e READY -e END | sort -u
      zpty -d z`,
    ]),
}

const fish: Shell = {
  name: 'fish',
  offers: (completions, line) => lines('fish', ['--no-config', '-c', `source '${completions}'; complete -C '${line.join(' ')}'`]),
}

const SHELLS: readonly Shell[] = [bash, zsh, fish]

const folder = temporaryFolder('completion')
afterAll(folder.remove)

const operations = mappings.flatMap((mapping) => mapping.operations.map(({ id }) => id))

describe.each(SHELLS.map((shell) => [shell.name, shell] as const))('%s completes', (name, shell) => {
  const isThere = hasProgram(name)
  const file = join(folder.path, name)
  const offers = async (line: string) => {
    writeFileSync(file, (await runCommand(['completion', name])).out)
    return [...shell.offers(file, line.split(' '))].sort()
  }

  it.runIf(isThere).each([
    ['crosswalk ser', ['serve']],
    ['crosswalk sandbox tok', ['token']],
    ['crosswalk sandbox token --as o', ['outsider', 'owner']],
    ['crosswalk serve --upstream-v2', ['', '-build', '-ca', '-cert', '-grpc', '-key'].map((end) => `--upstream-v2${end}`)],
    ['crosswalk serve --mode ', ['diff-v1', 'diff-v2', 'v1', 'v2']],
    ['crosswalk serve --port 1 --mode diff-v1 --dialect p', ['published']],
    ['crosswalk cutover --operations iam.groups.', operations.filter((id) => id.startsWith('iam.groups.')).sort()],
    ['crosswalk explain iam.groups.lis', ['iam.groups.list']],
    ['crosswalk help rol', ['rollouts']],
    ['crosswalk completion f', ['fish']],
  ])('%j', async (line, words) => {
    expect(await offers(line)).toEqual(words)
  })

  it.runIf(isThere)('every first word of a command', async () => {
    const firsts = new Set(Object.keys(COMMANDS).map((words) => words.split(' ')[0] ?? ''))
    expect((await offers('crosswalk ')).filter((word) => !word.startsWith('-'))).toEqual([...firsts, 'help'].sort())
  })

  it.runIf(isThere)('names of files', async () => {
    expect(await offers('crosswalk report package-l')).toEqual(['package-lock.json'])
    expect(await offers('crosswalk serve --config package-l')).toEqual(['package-lock.json'])
  })
})
