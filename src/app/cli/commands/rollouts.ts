import { effectOn, withRollout } from '../../../admin/report/commands.ts'
import type { CircuitRow, ClosedCircuits } from '../../../admin/routes.ts'
import { count, many } from '../../../migrate/evidence/evidence.ts'
import type { RolloutStatus } from '../../../migrate/rollout/machine.ts'
import { ROLLOUT_COMMANDS } from '../../../migrate/rollout/run.ts'
import { suggestion } from '../../../tables/check.ts'
import { operationsOf } from '../../../tables/tables.ts'
import { adminFlags, askAdmin, orderAdmin, tagged } from '../admin-port.ts'
import { type Command, endWith, FAILED, type Flags, type Io, MISUSED, print } from '../command.ts'
import { tablesFlag } from '../flags.ts'
import { type ModesAnswer, putModes, rulesOf } from './modes.ts'

const CHOICES = ['start', ...ROLLOUT_COMMANDS]

/** Tells where rollouts stand, and steers one. */
export const rollouts: Command = {
  usage: `rollouts [NAME ${ROLLOUT_COMMANDS.join('|')} | OPERATION start]`,
  summary:
    'Lists the rollouts of a running proxy, which raise the share of v2 step by step, gives one of them a command, or starts one of an operation alone.',
  more: true,
  flags: { json: { help: 'Print JSON', switch: true }, ...tablesFlag, ...adminFlags },
  async run(flags, args, io) {
    const problem = misuseOfRollouts(args)
    if (problem !== undefined) return endWith(io, MISUSED, problem)
    const [name, command] = args
    if (name !== undefined && command === 'start') return startRollout(name, flags, io)
    const known =
      name === undefined
        ? await askAdmin<readonly RolloutStatus[]>('/rollouts', flags, io)
        : await orderAdmin<RolloutStatus>(`/rollouts/${encodeURIComponent(name)}/${command}`, flags, io)
    const all = [known].flat() as readonly RolloutStatus[]
    print(io, flags, known, () => (all.length === 0 ? ['No rule has a rollout.'] : all.flatMap(rolloutLines)))
    return 0
  },
}

function misuseOfRollouts([name, command, ...others]: readonly string[]): string | undefined {
  if (name === undefined) return undefined
  if (command === undefined || others.length > 0) return `Usage: crosswalk ${rollouts.usage}`
  if (CHOICES.includes(command)) return undefined
  return `There is no rollout command "${command}"; ${suggestion(command, CHOICES, `use ${CHOICES.join('|')}.`)}`
}

/** Begins the rollout that the report page offers. Rules for some clients alone stay before it. */
async function startRollout(operation: string, flags: Flags, io: Io): Promise<number> {
  const ids = operationsOf(await io.tables()).flatMap(({ id, begin }) => (begin ? [id] : []))
  if (!ids.includes(operation))
    return endWith(io, MISUSED, `v2 serves no operation "${operation}"; ${suggestion(operation, ids, 'crosswalk operations lists them.')}`)
  const known = await tagged<ModesAnswer>({ method: 'GET', path: '/modes' }, flags, io)
  const before = rulesOf(known.answer)
  if (before.rules.some(({ canary }) => canary?.rollout?.name === operation)) {
    return endWith(io, MISUSED, `There is a rollout ${operation} already: crosswalk rollouts ${operation} resume goes on with it.`)
  }
  const effect = effectOn(operation, { rules: before, hasV1: true, rollouts: [], circuits: {}, v1First: [] })
  return putModes(before, withRollout(before, operation, effect), known.etag, flags, io)
}

/** `iam  running, step 2 of 3, 10 % of the callers, 18 of 200 observations, 2 retries left`, and the reason below. */
export function rolloutLines(rollout: RolloutStatus): readonly string[] {
  const { name, phase, step, steps, percent, observed, wanted, retriesLeft, reason } = rollout
  const place = [phase, `step ${step} of ${steps}`, `${percent} % of the callers`]
  const counts = wanted > 0 ? [`${count(observed)} of ${many(wanted, 'observation')}`] : []
  return [`${name}  ${[...place, ...counts, `${many(retriesLeft, 'retry', 'retries')} left`].join(', ')}`, `  ${reason}`]
}

/** Tells which circuits are open, and closes one or all. */
export const circuits: Command = {
  usage: 'circuits [close NAME | close --all]',
  summary:
    'Lists the open circuits of a running proxy: operations that v2 answered wrongly too often. Closes one, or all that no rollout keeps.',
  more: true,
  flags: {
    all: { help: 'With close: close every open circuit that no rollout keeps', switch: true },
    json: { help: 'Print JSON', switch: true },
    ...adminFlags,
  },
  async run(flags, args, io) {
    const problem = misuseOfCircuits(args, flags.all === true)
    if (problem !== undefined) return endWith(io, MISUSED, problem)
    const [command, name] = args
    if (command === undefined) {
      const open = await askAdmin<readonly CircuitRow[]>('/circuits', flags, io)
      print(io, flags, open, () => (open.length === 0 ? ['No circuit is open.'] : open.flatMap(circuitLines)))
      return 0
    }
    const path = name === undefined ? '/circuits/close' : `/circuits/${encodeURIComponent(name)}/close`
    const done = await orderAdmin<ClosedCircuits>(path, flags, io)
    print(io, flags, done, () => [`${many(done.closed.length, 'circuit')} closed`, ...done.closed.map((one) => `  ${one}`)])
    for (const sentence of done.kept) io.err(`Still open: ${sentence}.`)
    return done.kept.length > 0 ? FAILED : 0
  },
}

function misuseOfCircuits([command, name, ...others]: readonly string[], isAll: boolean): string | undefined {
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
