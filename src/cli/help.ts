import type { Command, Flag } from './command.ts'

/** The overview of all commands. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length))
  const rows = commands.map(({ usage, summary }) => `  crosswalk ${usage.padEnd(width)}  ${summary}`)
  return [
    'Crosswalk serves the v1 API from v2.',
    '',
    ...rows,
    '',
    'crosswalk <command> --help explains a command. crosswalk --version prints the version.',
  ].join('\n')
}

/** The help of one command. */
export function helpFor({ usage, summary, flags }: Command): string {
  return [`crosswalk ${usage}`, '', `  ${summary}`, '', ...flagRows({ ...flags, help: { help: 'Print this text', switch: true } })].join(
    '\n',
  )
}

function flagRows(flags: Readonly<Record<string, Flag>>): string[] {
  const rows = Object.entries(flags).map(([name, flag]) => [flag.switch ? `--${name}` : `--${name} VALUE`, flag.help] as const)
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`)
}
