import { count, many } from '../../../migrate/evidence/evidence.ts'
import type { RolloutStatus } from '../../../migrate/rollout/machine.ts'
import { ROLLOUT_COMMANDS } from '../../../migrate/rollout/run.ts'
import { suggestion } from '../../../tables/check.ts'
import { adminFlags, askAdmin, orderAdmin } from '../admin-port.ts'
import { type Command, endWith, FAILED, MISUSED } from '../command.ts'

const CHOICES = ROLLOUT_COMMANDS.join('|')

/** Tells where rollouts stand, and steers one. */
export const rollouts: Command = {
  usage: `rollouts [NAME ${CHOICES}]`,
  summary: 'Lists the rollouts of a running proxy with their steps, or gives one of them a command.',
  more: true,
  flags: { json: { help: 'Print JSON', switch: true }, ...adminFlags },
  async run(flags, args, io) {
    const problem = misuseOf(args)
    if (problem !== undefined) return endWith(io, MISUSED, problem)
    const [name, command] = args
    const known =
      name === undefined
        ? await askAdmin<readonly RolloutStatus[]>('/rollouts', flags, io)
        : await orderAdmin<RolloutStatus>(`/rollouts/${encodeURIComponent(name)}/${command}`, flags, io)
    if ('problem' in known) return endWith(io, FAILED, known.problem)
    const all = [known].flat() as readonly RolloutStatus[]
    if (flags.json) io.text(JSON.stringify(known, null, 2))
    else if (all.length === 0) io.out('No rule has a rollout.')
    else for (const line of all.flatMap(rolloutLines)) io.out(line)
    return 0
  },
}

function misuseOf([name, command, ...others]: readonly string[]): string | undefined {
  if (name === undefined) return undefined
  if (command === undefined || others.length > 0) return `Usage: crosswalk ${rollouts.usage}`
  if (ROLLOUT_COMMANDS.some((one) => one === command)) return undefined
  return `There is no rollout command "${command}"; ${suggestion(command, ROLLOUT_COMMANDS, `use ${CHOICES}.`)}`
}

/** `iam  running, step 2 of 3, 10 % of the callers, 18 of 200 observations, 2 retries left`, and the reason below. */
export function rolloutLines({
  name,
  phase,
  step,
  steps,
  percent,
  observed,
  wanted,
  retriesLeft,
  reason,
}: RolloutStatus): readonly string[] {
  const place = [phase, `step ${step} of ${steps}`, `${percent} % of the callers`]
  const counts = wanted > 0 ? [`${count(observed)} of ${many(wanted, 'observation')}`] : []
  return [`${name}  ${[...place, ...counts, `${many(retriesLeft, 'retry', 'retries')} left`].join(', ')}`, `  ${reason}`]
}
