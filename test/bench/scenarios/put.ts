import type { Child } from '../child.ts'
import { BASELINE, contestants, startCrosswalk, startSandbox } from '../proxies.ts'
import { atLeast, atMost, type Scenario, shown } from '../report/figure.ts'
import { inTurns, type Question } from './in-turns.ts'
import { ADMIN, create, createGroup } from './seeded.ts'

const ROLE = { name: 'puller', description: 'Pulls images.', capabilities: ['groups.list', 'repo.list'] }
const README = '# Images\n\nWhat it holds.'

const PLAIN = 'PUT of a role'
const PASSED = `its PATCH through ${BASELINE}`
const COMPOSED = 'PUT of a repo with its readme'

/**
 * Point 10: processor time of a v1 PUT, one at a time: of one that is a PATCH of v2, beside the same PATCH through a proxy that passes it
 * on, and of one that also reads what v2 keeps apart (the readme of a repo).
 */
export const put: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const first = await startCrosswalk(sandbox.url)
  const group = await createGroup(first.url, 'written')
  const role = await create(first.url, `/iam/v1/roles/${group}`, ROLE)
  const repo = await create(first.url, `/registry/v1/repos/${group}`, { name: 'images', readme: README })
  await first.stop()
  const inV2 = (await (await fetch(`${sandbox.url}/iam/v2/roles/${role}`, { headers: ADMIN })).json()) as typeof ROLE
  const patch = { name: inV2.name, description: inV2.description, capabilities: inV2.capabilities }
  const questionsOf = (proxy: Child, peer: Child): readonly Question[] => [
    { what: PLAIN, proxy, path: `/iam/v1/roles/${role}`, init: asked('PUT', ROLE) },
    { what: PASSED, proxy: peer, path: `/iam/v2/roles/${role}?updateMask=*`, init: asked('PATCH', patch) },
    { what: COMPOSED, proxy, path: `/registry/v1/repos/${repo}`, init: asked('PUT', { name: 'images', readme: README }) },
  ]
  const { time, ratio } = await inTurns(async () => {
    const [proxy, peer] = [await startCrosswalk(sandbox.url), await startPeer(sandbox.url)]
    return { questions: questionsOf(proxy, peer), stop: async () => void (await Promise.all([proxy.stop(), peer.stop()])) }
  }, run)
  await sandbox.stop()
  return [
    ...[PLAIN, PASSED, COMPOSED].map((what, at) => shown(10, `${what}, CPU`, time(at), 'µs/request')),
    atLeast(10, `${PASSED} ÷ ${PLAIN}, CPU`, ratio(1, 0), '×', 1.5),
    atMost(10, `${COMPOSED} ÷ ${PLAIN}, CPU`, ratio(2, 0), '×', 1.4),
  ]
}

const asked = (method: string, body: object) => ({
  method,
  headers: { ...ADMIN, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

function startPeer(upstream: string): Promise<Child> {
  const peer = contestants().find(({ name }) => name === BASELINE)
  if (!peer) throw new Error(`${BASELINE} is no contestant`)
  return peer.start(upstream)
}
