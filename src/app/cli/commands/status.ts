import type { CircuitRow } from '../../../admin/routes.ts'
import type { RolloutStatus } from '../../../migrate/rollout/machine.ts'
import { adminFlags, askAdmin } from '../admin-port.ts'
import { type Command, FAILED, print } from '../command.ts'
import { type ModesAnswer, modesLines } from './modes.ts'
import { circuitLines, rolloutLines } from './rollouts.ts'

/** What `GET /readyz` answers if the proxy is ready: the state of each service. */
type Readiness = Readonly<Record<string, string>>

/** What `GET /replicas` answers of one replica, as far as it is told here. */
interface ReplicaState {
  readonly id: string
  readonly state: 'live' | 'silent'
}

/** Tells on one screen where a proxy stands. */
export const status: Command = {
  usage: 'status',
  summary:
    'Prints the state of a running proxy: its services, modes, rollouts, open circuits and replicas. Exits with 1 if it is not ready.',
  flags: { json: { help: 'Print one JSON object', switch: true }, ...adminFlags },
  async run(flags, _, io) {
    const modes = await askAdmin<ModesAnswer>('/modes', flags, io)
    const ready = await askAdmin<Readiness>('/readyz', flags, io).catch((error: Error) => ({ problem: error.message }))
    const circuits = await askAdmin<readonly CircuitRow[]>('/circuits', flags, io)
    const rollouts = await askAdmin<readonly RolloutStatus[]>('/rollouts', flags, io)
    // A proxy without a store has no such answer.
    const replicas = await askAdmin<readonly ReplicaState[]>('/replicas', flags, io).catch(() => undefined)
    const known = { ready, modes, circuits, rollouts, ...(replicas && { replicas }) }
    print(io, flags, known, () => linesOf(known))
    return isReady(ready) ? 0 : FAILED
  },
}

interface Known {
  readonly ready: Readiness | { readonly problem: string }
  readonly modes: ModesAnswer
  readonly circuits: readonly CircuitRow[]
  readonly rollouts: readonly RolloutStatus[]
  readonly replicas?: readonly ReplicaState[]
}

function isReady(ready: Known['ready']): boolean {
  return !('problem' in ready)
}

function linesOf({ ready, modes, circuits, rollouts, replicas }: Known): readonly string[] {
  const services = Object.entries(ready).filter(([name]) => name !== 'status')
  return [
    isReady(ready) ? 'Ready' : 'Not ready',
    ...services.map(([name, state]) => (name === 'problem' ? `  ${state}` : `  ${name}: ${state}`)),
    ...modesLines(modes),
    ...(rollouts.length === 0 ? ['Rollouts: none'] : ['Rollouts:', ...rollouts.flatMap(rolloutLines).map((line) => `  ${line}`)]),
    ...(circuits.length === 0 ? ['Open circuits: none'] : ['Open circuits:', ...circuits.flatMap(circuitLines).map((line) => `  ${line}`)]),
    ...(replicas ? ['Replicas:', ...replicas.map(({ id, state }) => `  ${id}  ${state}`)] : []),
    ...(modes.page === undefined ? [] : [`The page: ${modes.page}`]),
    'crosswalk cutover says whether traffic may move.',
  ]
}
