import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, startStage } from '../stage/stage.ts'

/** One list whose rows need more than v2's list shows, and the v2 calls for `rows` rows: the first time, and again. */
interface Composed {
  readonly list: string
  /** Creates the group that holds the rows; the organization holds them without it. */
  readonly group?: () => Promise<string>
  readonly create: (nth: number, group: string) => Promise<void>
  readonly cold: (rows: number) => number
  readonly warm: (rows: number) => number
}

describe('a list whose rows need more than v2 lists', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ 'keep.ttlMs': 60_000 })
  })
  afterAll(() => stage.close())

  async function created(path: string, body: object): Promise<string> {
    const reply = await stage.request('POST', path, { body })
    if (reply.status !== 200) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
    return reply.body.id
  }

  const group = () => created(`/iam/v1/groups/${stage.sandbox.organization}`, { name: 'rows' })

  const COMPOSED: Readonly<Record<string, Composed>> = {
    // Each row has an identity and a role of its own. What v1 showed of a binding is in four collections of v2, and a list reads one.
    'role bindings': {
      list: '/iam/v1/rolebindings',
      group,
      async create(nth, group) {
        const claim_match = { issuer: 'https://issuer.example', subject: `robot ${nth}` }
        const identity = await created(`/iam/v1/identities/${group}`, { name: `robot ${nth}`, claim_match })
        const role = await created(`/iam/v1/roles/${group}`, { name: `role ${nth}`, capabilities: ['groups.list'] })
        await created(`/iam/v1/rolebindings/${group}`, { identity, role })
      },
      cold: () => 4,
      warm: () => 4,
    },
    // The list of v2 has no SCIM state, and only a Get of one provider shows it.
    'identity providers': {
      list: '/iam/v1/identityProviders',
      async create(nth, group) {
        const oidc = { issuer: 'https://login.example', client_id: 'id', client_secret: 'secret' }
        const [role] = (await stage.request('GET', '/iam/v1/roles?name=viewer')).body.items
        await created(`/iam/v1/identityProviders/${group}`, { name: `provider ${nth}`, default_role: role.id, oidc })
      },
      cold: (rows) => 1 + rows,
      warm: (rows) => 1 + rows,
    },
    // A readme is a resource of its own, and no list shows readmes. They are kept while their repos stand still.
    repos: {
      list: '/registry/v1/repos',
      group,
      async create(nth, group) {
        await created(`/registry/v1/repos/${group}`, { name: `repo-${nth}` })
      },
      cold: (rows) => 1 + rows,
      warm: () => 1,
    },
  }

  it.each(Object.entries(COMPOSED))('makes as few v2 calls as v2 allows: %s', async (_, { list, create, cold, warm, ...made }) => {
    const group = (await made.group?.()) ?? stage.sandbox.organization
    const rowsOf = async (origin: string) => {
      const headers = { authorization: `Bearer ${stage.sandbox.tokens.owner}` }
      return (await (await fetch(`${origin}${list}?uidp.children_of=${group}`, { headers })).json()) as { items: readonly unknown[] }
    }
    let rows = (await rowsOf(stage.sandbox.url)).items.length
    for (const wanted of [1, 12, 50]) {
      for (; rows < wanted; rows += 1) await create(rows, group)
      for (const callsOf of [cold, warm]) {
        await stage.clearJournal()
        const served = await rowsOf(stage.server.url)
        const calls = (await stage.journal()).length
        expect({ rows: served.items.length, calls }).toEqual({ rows, calls: callsOf(rows) })
      }
      expect(await rowsOf(stage.server.url)).toEqual(await rowsOf(stage.sandbox.url))
    }
  })
})
