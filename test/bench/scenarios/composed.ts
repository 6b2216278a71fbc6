import { type Child, cpuMs } from '../child.ts'
import { startCrosswalk, startSandbox } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'

const OWNER = { authorization: 'Bearer demo-owner' }
const ADMIN = { authorization: 'Bearer demo-admin' }
const ROWS = 50
const FEW = 12

/** Requests of one turn, one after the other. */
const TURN = 100

/** A list, and how many times the processor time of the plain list it may take. */
interface Question {
  readonly what: string
  readonly path: string
  readonly most: number
}

/**
 * Point 9: processor time of lists whose rows need more than v2 lists, for one request at a time, as a multiple of a plain list of 50 rows.
 * The lists are asked in turns, so that other work of the machine affects all of them. Readmes are kept, and everything is warm.
 */
export const composed: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const proxy = await startCrosswalk(sandbox.url, { env: { CROSSWALK_KEEP_TTL_MS: '3600000' } })
  const [many, few] = [await seeded(proxy.url, ROWS), await seeded(proxy.url, FEW)]
  const plain = { what: `plain list of ${ROWS} rows`, path: `/iam/v1/roles?uidp.children_of=${many}`, most: 1 }
  const questions: readonly Question[] = [
    plain,
    { what: `${ROWS} repos with kept readmes`, path: `/registry/v1/repos?uidp.children_of=${many}`, most: 1.5 },
    { what: `${FEW} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${few}`, most: 2 },
    { what: `${ROWS} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${many}`, most: 2 },
  ]
  const turns: (readonly number[])[] = []
  for (let nth = 0; nth < (run.short ? 3 : 12); nth += 1) {
    const turn: number[] = []
    for (const { path } of questions) turn.push(await micros(proxy, path))
    turns.push(turn)
  }
  await proxy.stop()
  await sandbox.stop()
  // The first turns compile.
  const warm = turns.slice(turns.length / 3)
  const times = (at: number) => median(warm.map((turn) => turn[at] ?? Number.NaN))
  const ratio = (at: number) => median(warm.map((turn) => (turn[at] ?? Number.NaN) / (turn[0] ?? Number.NaN)))
  return questions.flatMap(({ what, most }, at): readonly Figure[] => [
    shown(9, `${what}, CPU`, times(at), 'µs/request'),
    ...(at === 0 ? [] : [atMost(9, `${what} ÷ ${plain.what}, CPU`, ratio(at), '×', most)]),
  ])
}

async function micros({ url, pid }: Child, path: string): Promise<number> {
  const before = cpuMs(pid)
  for (let nth = 0; nth < TURN; nth += 1) await (await fetch(url + path, { headers: OWNER })).arrayBuffer()
  return ((cpuMs(pid) - before) * 1000) / TURN
}

/** Makes a group with this number of repos, roles, and bindings of a role and an identity each; returns its id. */
async function seeded(url: string, rows: number): Promise<string> {
  const create = async (path: string, body: object) => {
    const answer = await fetch(url + path, { method: 'POST', headers: ADMIN, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`)
    return ((await answer.json()) as { id: string }).id
  }
  const { items } = (await (await fetch(`${url}/iam/v1/groups`, { headers: OWNER })).json()) as { items: readonly { id: string }[] }
  const organization = items.find(({ id }) => !id.includes('/'))?.id
  const group = await create(`/iam/v1/groups/${organization}`, { name: `rows ${rows}` })
  for (let nth = 0; nth < rows; nth += 1) {
    const claim_match = { issuer: 'https://issuer.example', subject: `robot ${nth}` }
    const identity = await create(`/iam/v1/identities/${group}`, { name: `robot ${nth}`, claim_match })
    const role = await create(`/iam/v1/roles/${group}`, { name: `role ${nth}`, capabilities: ['groups.list', 'repo.list'] })
    await create(`/iam/v1/rolebindings/${group}`, { identity, role })
    await create(`/registry/v1/repos/${group}`, { name: `repo-${nth}`, readme: `# Repo ${nth}\n\nWhat it holds.` })
  }
  return group
}
