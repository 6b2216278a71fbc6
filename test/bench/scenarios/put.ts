import { BASELINE, contestants, startCrosswalk, startSandbox } from '../proxies.ts'
import { atLeast, atMost, type Scenario, shown } from '../report/figure.ts'
import { inTurns, type Question } from './in-turns.ts'
import { ADMIN, create, createGroup } from './seeded.ts'

const ROLE = { name: 'puller', description: 'Pulls images.', capabilities: ['groups.list', 'repo.list'] }
const README = '# Images\n\nWhat it holds.'

/**
 * Point 10: processor time of a v1 PUT, one at a time: of one that is a PATCH of v2, beside the same PATCH through a proxy that passes it
 * on, and of one that also reads what v2 keeps apart (the readme of a repo).
 */
export const put: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const proxy = await startCrosswalk(sandbox.url)
  const peer = await contestants()
    .find(({ name }) => name === BASELINE)
    ?.start(sandbox.url)
  if (!peer) throw new Error(`${BASELINE} is no contestant`)
  const group = await createGroup(proxy.url, 'written')
  const role = await create(proxy.url, `/iam/v1/roles/${group}`, ROLE)
  const repo = await create(proxy.url, `/registry/v1/repos/${group}`, { name: 'images', readme: README })
  const inV2 = (await (await fetch(`${sandbox.url}/iam/v2/roles/${role}`, { headers: ADMIN })).json()) as typeof ROLE
  const asked = (method: string, body: object) => ({
    method,
    headers: { ...ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const questions: readonly Question[] = [
    { what: 'PUT of a role', proxy, path: `/iam/v1/roles/${role}`, init: asked('PUT', ROLE) },
    {
      what: `its PATCH through ${BASELINE}`,
      proxy: peer,
      path: `/iam/v2/roles/${role}?updateMask=*`,
      init: asked('PATCH', { name: inV2.name, description: inV2.description, capabilities: inV2.capabilities }),
    },
    {
      what: 'PUT of a repo with its readme',
      proxy,
      path: `/registry/v1/repos/${repo}`,
      init: asked('PUT', { name: 'images', readme: README }),
    },
  ]
  const { time, ratio } = await inTurns(questions, run)
  for (const child of [proxy, peer, sandbox]) await child.stop()
  const [plain = '', patch = '', composed = ''] = questions.map(({ what }) => what)
  return [
    ...questions.map(({ what }, at) => shown(10, `${what}, CPU`, time(at), 'µs/request')),
    atLeast(10, `${patch} ÷ ${plain}, CPU`, ratio(1, 0), '×', 1.5),
    atMost(10, `${composed} ÷ ${plain}, CPU`, ratio(2, 0), '×', 1.4),
  ]
}
