import { suggestion } from '../../tables/check.ts'
import { operationsOf } from '../../tables/tables.ts'
import { type Command, endWith, MISUSED } from '../command.ts'
import { bashCompletion } from './bash.ts'
import { type Completed, completedFrom } from './completed.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS: Readonly<Record<string, (completed: Completed) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const NAMES = Object.keys(SHELLS)

/** Prints what makes a shell complete `commands`, their flags and words, and operation ids. */
export function createCompletion(commands: Readonly<Record<string, () => Promise<Command>>>): Command {
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
      const loaded = await Promise.all(Object.entries(commands).map(async ([words, load]) => [words, await load()] as const))
      // Tables of somebody else may have ids that a shell would read as more than a word.
      const operations = operationsOf(await io.tables()).flatMap(({ id }) => (/^[\w.-]+$/.test(id) ? [id] : []))
      io.text(write(completedFrom(Object.fromEntries(loaded), operations)).trimEnd())
      return 0
    },
  }
}
