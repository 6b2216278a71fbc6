import { COMMANDS, run } from '../../../src/app/cli/run.ts'

/** The page of all commands. */
export const COMMANDS_PAGE = 'commands.md'

const HEAD = `# Commands

The help of every command, as \`crosswalk COMMAND --help\` prints it. The [glossary](docs/glossary.md) explains the words.`

/** Returns the page of all commands. The program itself prints its help. */
export async function commandsPage(): Promise<string> {
  const names = Object.keys(COMMANDS).sort()
  const helps = await Promise.all(
    names.map(async (name) => `## ${name}\n\n\`\`\`text\n${await printed([...name.split(' '), '--help'])}\n\`\`\``),
  )
  return [HEAD, ...helps].join('\n\n').concat('\n')
}

/** Runs a command that ends by itself and returns what it prints. */
async function printed(argv: readonly string[]): Promise<string> {
  const lines: string[] = []
  const never = () => new Promise<never>(() => {})
  const code = await run(argv, {
    out: (line) => lines.push(line),
    err: (line) => lines.push(line),
    env: {},
    stdin: async () => '',
    untilStopped: () => Promise.resolve(),
    untilEscaped: never,
  })
  if (code !== 0) throw new Error(`crosswalk ${argv.join(' ')} ended with ${code}: ${lines.join(' ')}`)
  return lines.join('\n')
}
