import type { CircuitRow, ClosedCircuits } from '../../../admin/routes.ts'
import { many } from '../../../migrate/evidence/evidence.ts'
import { suggestion } from '../../../tables/check.ts'
import { adminFlags, askAdmin, orderAdmin } from '../admin-port.ts'
import { type Command, endWith, FAILED, MISUSED } from '../command.ts'

/** Tells which circuits are open, and closes one or all. */
export const circuits: Command = {
  usage: 'circuits [close NAME | close --all]',
  summary: 'Lists the open circuits of a running proxy, or closes that of one operation, or all that no rollout keeps.',
  more: true,
  flags: {
    all: { help: 'With close: close every open circuit that no rollout keeps', switch: true },
    json: { help: 'Print JSON', switch: true },
    ...adminFlags,
  },
  async run(flags, args, io) {
    const problem = misuseOf(args, flags.all === true)
    if (problem !== undefined) return endWith(io, MISUSED, problem)
    const [command, name] = args
    if (command === undefined) {
      const open = await askAdmin<readonly CircuitRow[]>('/circuits', flags, io)
      if ('problem' in open) return endWith(io, FAILED, open.problem)
      if (flags.json) io.text(JSON.stringify(open, null, 2))
      else for (const line of open.length === 0 ? ['No circuit is open.'] : open.flatMap(circuitLines)) io.out(line)
      return 0
    }
    const path = name === undefined ? '/circuits/close' : `/circuits/${encodeURIComponent(name)}/close`
    const done = await orderAdmin<ClosedCircuits>(path, flags, io)
    if ('problem' in done) return endWith(io, FAILED, done.problem)
    if (flags.json) io.text(JSON.stringify(done, null, 2))
    else for (const line of [`${many(done.closed.length, 'circuit')} closed`, ...done.closed.map((one) => `  ${one}`)]) io.out(line)
    for (const sentence of done.kept) io.err(`Still open: ${sentence}.`)
    return done.kept.length > 0 ? FAILED : 0
  },
}

function misuseOf([command, name, ...others]: readonly string[], isAll: boolean): string | undefined {
  const usage = `Usage: crosswalk ${circuits.usage}`
  if (command === undefined) return isAll ? usage : undefined
  if (command !== 'close') return `crosswalk circuits has no command "${command}"; ${suggestion(command, ['close'], 'use close.')}`
  return others.length > 0 || (name === undefined) !== isAll ? usage : undefined
}

/** `registry.repos.list  open since 2027-03-01T12:00:00.000Z for rollout registry`; below, why, and what closes it. */
export function circuitLines({ operation, openedAt, owner, reason, rollout, until }: CircuitRow): readonly string[] {
  const end =
    rollout === undefined ? `until ${until}` : `It turned back the rollout ${rollout}: crosswalk rollouts ${rollout} resume closes it`
  return [`${operation}  open since ${openedAt}${owner === undefined ? '' : ` for ${owner}`}`, `  ${reason}`, `  ${end}`]
}
