import { beforeAll, describe, expect, it } from 'vitest'
import { type CallLimits, ManyCalls } from '../../src/serve/calls.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import { type AskTurn, type Call, type CallReceiver, type Outcome, type OutcomeReceiver, replied } from '../../src/tables/turn.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { sending } from './sends.ts'

describe('calls', () => {
  const calls = Array.from({ length: 10 }, (_, at): Call => ({ method: 'GET', path: `/${at}`, query: [] }))
  const ask = (at: number, ahead?: readonly Call[]) => ({ kind: 'ask' as const, calls: calls.slice(at, at + 1), ...(ahead && { ahead }) })

  function making(send: Parameters<typeof sending>[0], limits: CallLimits) {
    const many = new ManyCalls(sending(send), limits)
    return (turn: Pick<AskTurn, 'kind' | 'calls' | 'ahead'>) =>
      new Promise<readonly Outcome[]>((told) => many.sendCalls({ ...turn, next: () => replied({ status: 200, body: {} }) }, telling(told)))
  }

  /** A v2 service that answers when the test tells it to. */
  function service() {
    const begun: string[] = []
    const answers = new Map<string, (body: JsonObject) => void>()
    const send = ({ path }: Call) => {
      begun.push(path)
      return new Promise<JsonObject>((resolve) => answers.set(path, resolve))
    }
    return { begun, send, answer: (path: string) => answers.get(path)?.({ path }) }
  }

  function promptService() {
    const begun: string[] = []
    const send = async ({ path }: Call) => {
      begun.push(path)
      return { path }
    }
    return { begun, send }
  }

  describe('announced calls', () => {
    it('begin in order, up to the parallel limit, and keep their outcomes', async () => {
      const { begun, send, answer } = service()
      const make = making(send, { callsPerRequest: 100, parallelCalls: 3 })
      const first = make(ask(0, calls.slice(1)))
      await Promise.resolve()
      expect(begun).toEqual(['/0', '/1', '/2'])
      for (const path of ['/2', '/1', '/0']) answer(path)
      expect(await first).toEqual([{ ok: true, body: { path: '/0' } }])
      expect(await make(ask(1))).toEqual([{ ok: true, body: { path: '/1' } }])
      expect(await make(ask(2))).toEqual([{ ok: true, body: { path: '/2' } }])
      expect(begun).toEqual(['/0', '/1', '/2', '/3', '/4', '/5'])
    })

    it('do not begin while the plan waits', async () => {
      const { begun, send } = promptService()
      const make = making(send, { callsPerRequest: 100, parallelCalls: 3 })
      await make(ask(0, calls.slice(1)))
      await new Promise((resolve) => setImmediate(resolve))
      expect(begun).toHaveLength(4)
    })

    it('are forgotten if the plan announces others', async () => {
      const { begun, send } = promptService()
      const make = making(send, { callsPerRequest: 100, parallelCalls: 2 })
      await make(ask(0, calls.slice(1)))
      expect(await make(ask(9, []))).toEqual([{ ok: true, body: { path: '/9' } }])
      expect(await make(ask(8))).toEqual([{ ok: true, body: { path: '/8' } }])
      expect(begun).toEqual(['/0', '/1', '/2', '/9', '/8'])
    })

    it('count, and do not begin beyond the limit', async () => {
      const { begun, send, answer } = service()
      const make = making(send, { callsPerRequest: 2, parallelCalls: 8 })
      const first = make(ask(0, calls.slice(1)))
      await Promise.resolve()
      expect(begun).toEqual(['/0', '/1'])
      answer('/0')
      answer('/1')
      await first
      await make(ask(1))
      expect(await make(ask(2))).toMatchObject([{ ok: false, error: { message: expect.stringContaining('limits.callsPerRequest (2)') } }])
    })
  })

  it('refuses too many parallel calls before making any of them', async () => {
    const { begun, send } = service()
    const make = making(send, { callsPerRequest: 2, parallelCalls: 8 })
    const refused = { ok: false, error: { code: 'FAILED_PRECONDITION' } }
    expect(await make({ kind: 'ask', calls: calls.slice(0, 3) })).toMatchObject([refused, refused, refused])
    expect(begun).toEqual([])
  })

  describe('calls that land at once', () => {
    const many = Array.from({ length: 20_000 }, (_, at): Call => ({ method: 'GET', path: `/${at}`, query: [] }))
    const limits = { callsPerRequest: 100_000, parallelCalls: 1 }

    /** Sends them all in one turn; the outcomes are there once they are told. */
    function sendMany(send: (call: Call, landing: CallReceiver) => void) {
      let told: readonly Outcome[] = []
      const turn: AskTurn = { kind: 'ask', calls: many, next: () => replied({ status: 200, body: {} }) }
      new ManyCalls(send, limits).sendCalls(
        turn,
        telling((outcomes) => (told = outcomes)),
      )
      return () => told
    }

    it('are told at once, in the order of the calls', () => {
      const told = sendMany(({ path }, landing) => landing.received({ path }))
      expect(told()).toEqual(many.map(({ path }) => ({ ok: true, body: { path } })))
    })

    it('do not grow the stack when they wait for one that does not', () => {
      let first: CallReceiver | undefined
      const told = sendMany((call, landing) => {
        if (call === many[0]) first = landing
        else landing.received({})
      })
      expect(told()).toEqual([])
      first?.received({})
      expect(told()).toHaveLength(many.length)
    })
  })

  /** Takes the outcomes of several calls: none of them is the only one of its turn. */
  function telling(told: OutcomeReceiver['settled']): OutcomeReceiver {
    return { settled: told, received: (body) => fail(body), failed: fail }
  }

  function fail(thrown: unknown): void {
    throw thrown
  }
})

describe('a list whose rows need more than v2 lists', () => {
  /** One list whose rows need more than v2's list shows, and the v2 calls for `rows` rows: the first time, and again. */
  interface Composed {
    readonly list: string
    /** Creates the group that holds the rows; the organization holds them without it. */
    readonly group?: () => Promise<string>
    readonly create: (nth: number, group: string) => Promise<void>
    readonly cold: (rows: number) => number
    readonly warm: (rows: number) => number
  }

  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ proxy: { 'keep.ttlMs': 60_000 } })
  })

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
        const served = await rowsOf(stage.url)
        const calls = (await stage.journal()).length
        expect({ rows: served.items.length, calls }).toEqual({ rows, calls: callsOf(rows) })
      }
      expect(await rowsOf(stage.url)).toEqual(await rowsOf(stage.sandbox.url))
    }
  })
})
