import type { IncomingMessage } from 'node:http'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import { until } from '../../stage/until.ts'
import { type Behaviour, listOf } from '../world.ts'

/** A proxy with one rollout. */
interface Rolling {
  readonly url: string
  readonly adminUrl: string
}

const CLIENTS = 40

/** Sends one request of each client, so many at the same time. Returns the different statuses. */
export async function crowd({ url }: Rolling, together = CLIENTS): Promise<string> {
  const ask = async (nth: number) => {
    const answer = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: `Bearer client-${nth}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  const statuses: number[] = []
  for (let from = 0; from < CLIENTS; from += together) {
    statuses.push(...(await Promise.all(Array.from({ length: together }, (_, nth) => ask(from + nth)))))
  }
  return [...new Set(statuses)].sort().join(', ')
}

export async function rollout({ adminUrl }: Rolling): Promise<RolloutStatus> {
  const [first] = (await (await fetch(`${adminUrl}/rollouts`)).json()) as readonly RolloutStatus[]
  if (!first) throw new Error('no rule has a rollout')
  return first
}

/** `running, step 1 of 2, 50 %` */
export const placeOf = ({ phase, step, steps, percent }: RolloutStatus) => `${phase}, step ${step} of ${steps}, ${percent} %`

/** Sends requests until the rollout is as wanted. */
export function sendUntil(proxy: Rolling, isThere: (status: RolloutStatus) => boolean, together?: number): Promise<RolloutStatus> {
  return until(async () => {
    await crowd(proxy, together)
    const status = await rollout(proxy)
    return isThere(status) && status
  })
}

/** Waits until the rollout was looked at twice with requests in between, so that it had every chance to move. */
export async function twoLooks(proxy: Rolling): Promise<RolloutStatus> {
  const { heldMs } = await sendUntil(proxy, (status) => status.heldMs > 0)
  return sendUntil(proxy, (status) => status.heldMs > heldMs || status.phase !== 'running')
}

/** The first step takes a second, the second one an hour. */
export const QUICK_STEPS = [
  { percent: 50, observations: 5 },
  { percent: 60, hold: '1h' },
]

/** The modes with a rollout of these steps. Callers beyond the share are not compared. */
export function rollingModes(steps: readonly object[]) {
  const rule = { operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout: { name: 'iam', target: 0.5, steps } } }
  return { default: 'v1', rules: [rule] }
}

/** The same, read. */
export function rolling(steps: readonly object[]): ModeRules {
  const read = readModeRules(rollingModes(steps))
  if ('problem' in read) throw new Error(read.problem)
  return read
}

const isV1 = ({ url = '' }: IncomingMessage) => url.startsWith('/iam/v1')

/** Plays v1 and v2 over one empty store, except for what is given. */
export function sides({ v1 = right, v2 = right }: { readonly v1?: Behaviour; readonly v2?: Behaviour }): Behaviour {
  return (request, response, body) => (isV1(request) ? v1 : v2)(request, response, body)
}

const right: Behaviour = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(isV1(request) ? '{"items":[]}' : listOf(0))
}

export const hanging: Behaviour = () => {}
