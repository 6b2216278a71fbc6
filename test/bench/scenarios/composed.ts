import { startCrosswalk, startSandbox } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { inTurns } from './in-turns.ts'
import { create, createGroup, OWNER } from './seeded.ts'

const ROWS = 50
const FEW = 12

/** A list, and how many times the processor time of the plain list it may take. */
interface List {
  readonly what: string
  readonly path: string
  readonly most: number
}

/**
 * Point 9: processor time of lists whose rows need more than v2 lists, for one request at a time, as a multiple of a plain list of 50 rows.
 * Readmes are kept, and everything is warm.
 */
export const composed: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const launch = () => startCrosswalk(sandbox.url, { env: { CROSSWALK_KEEP_TTL_MS: '3600000' } })
  const first = await launch()
  const [many, few] = [await seeded(first.url, ROWS), await seeded(first.url, FEW)]
  await first.stop()
  const plain = { what: `plain list of ${ROWS} rows`, path: `/iam/v1/roles?uidp.children_of=${many}`, most: 1 }
  const lists: readonly List[] = [
    plain,
    { what: `${ROWS} repos with kept readmes`, path: `/registry/v1/repos?uidp.children_of=${many}`, most: 1.5 },
    { what: `${FEW} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${few}`, most: 2 },
    { what: `${ROWS} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${many}`, most: 2 },
  ]
  const { time, ratio } = await inTurns(async () => {
    const proxy = await launch()
    return { questions: lists.map(({ what, path }) => ({ what, proxy, path, init: { headers: OWNER } })), stop: proxy.stop }
  }, run)
  await sandbox.stop()
  return lists.flatMap(({ what, most }, at): readonly Figure[] => [
    shown(9, `${what}, CPU`, time(at), 'µs/request'),
    ...(at === 0 ? [] : [atMost(9, `${what} ÷ ${plain.what}, CPU`, ratio(at, 0), '×', most)]),
  ])
}

/** Makes a group with this number of repos, roles, and bindings of a role and an identity each; returns its id. */
async function seeded(url: string, rows: number): Promise<string> {
  const group = await createGroup(url, `rows ${rows}`)
  for (let nth = 0; nth < rows; nth += 1) {
    const claim_match = { issuer: 'https://issuer.example', subject: `robot ${nth}` }
    const identity = await create(url, `/iam/v1/identities/${group}`, { name: `robot ${nth}`, claim_match })
    const role = await create(url, `/iam/v1/roles/${group}`, { name: `role ${nth}`, capabilities: ['groups.list', 'repo.list'] })
    await create(url, `/iam/v1/rolebindings/${group}`, { identity, role })
    await create(url, `/registry/v1/repos/${group}`, { name: `repo-${nth}`, readme: `# Repo ${nth}\n\nWhat it holds.` })
  }
  return group
}
