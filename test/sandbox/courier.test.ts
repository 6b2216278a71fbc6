import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { emptyDataset } from '../../src/sandbox/data/demo.ts'
import { createCourier, createLedger, type Occurrence, type Outcome, type Post } from '../../src/sandbox/events/events.ts'
import { createWorld } from '../../src/sandbox/start.ts'
import { createClock, createRandom } from '../../src/sandbox/world/store.ts'
import { column, running, type SinkServer, START, startSink } from './stage.ts'

describe('courier', () => {
  const OPTIONS = { v1Dialect: 'specification', serviceDomain: 'chainguard.dev' } as const

  /** A courier over one organization with one subscription. `play` acts as the sink. */
  const bench = (sink: string, play: Post, anySink = false) => {
    const dataset = emptyDataset()
    const clock = createClock(START)
    const world = createWorld(dataset, clock, 1, OPTIONS, () => 'http://sandbox.test')
    const subscription = { uid: `${dataset.organization}/00000000000000aa`, sink }
    world.store.subscriptions.put(subscription)
    const ledger = createLedger()
    const courier = createCourier({ world, post: play, ledger, random: createRandom(1), anySink })
    const occurrence: Occurrence = {
      type: 'dev.chainguard.api.iam.roles.created.v1',
      subject: `${dataset.organization}/00000000000000bb`,
      group: dataset.organization,
      sourcePath: '/iam/v2/roles',
      bodyType: 'chainguard.platform.iam.v2.Role',
      body: {},
      actor: '',
      extensions: {},
    }
    return { world, clock, ledger, courier, occurrence, subscription }
  }

  const LOCAL = 'https://localhost:1/'
  const down: Outcome = { verdict: 'again', detail: 'down' }

  test('repeats after 1 s, 5 s, 30 s, 2 min and 10 min, then drops (semantics §7.4)', async () => {
    const ids: (string | undefined)[] = []
    const { clock, courier, ledger, occurrence } = bench(LOCAL, async (_url, headers) => {
      ids.push(headers['ce-id'])
      return down
    })
    courier.publish(occurrence)
    await courier.settled()
    for (const ms of [1_000, 5_000, 30_000, 120_000, 600_000]) {
      clock.advance(ms - 1)
      await courier.settled()
      const before = ids.length
      clock.advance(1)
      await courier.settled()
      expect(ids.length).toBe(before + 1)
    }
    clock.advance(3_600_000)
    await courier.settled()
    expect(ids.length).toBe(6)
    expect(new Set(ids).size).toBe(1)
    expect(ledger.entries()[0]).toMatchObject({ state: 'dropped', attempts: 6, detail: 'down' })
  })

  test('contacts a sink off this machine only if allowed', async () => {
    const asked: string[] = []
    const play: Post = async (url) => {
      asked.push(url.href)
      return { verdict: 'delivered', detail: 'HTTP 200' }
    }
    for (const [sink, anySink] of [
      ['https://example.com/a', false],
      ['https://0.0.0.0/b', false],
      ['https://[::ffff:127.0.0.1]/c', false],
      ['https://example.com/d', true],
      ['https://127.1/e', false],
    ] as const) {
      const { courier, occurrence } = bench(sink, play, anySink)
      courier.publish(occurrence)
      await courier.settled()
    }
    expect(asked).toEqual(['https://example.com/d', 'https://127.0.0.1/e'])
  })

  test('keeps at most a thousand waiting events', async () => {
    const { courier, ledger, occurrence } = bench(LOCAL, async () => down)
    for (let count = 0; count < 1_002; count += 1) courier.publish(occurrence)
    await courier.settled()
    const states = ledger.entries().map(({ state }) => state)
    expect(states.filter((state) => state === 'dropped')).toHaveLength(2)
    expect(ledger.entries().at(-1)?.detail).toContain('wait already')
    await courier.close()
  })

  test('stops repeating for a deleted subscription', async () => {
    const { world, clock, courier, ledger, occurrence, subscription } = bench(LOCAL, async () => down)
    courier.publish(occurrence)
    await courier.settled()
    world.store.subscriptions.delete(subscription.uid)
    clock.advance(1_000)
    await courier.settled()
    expect(ledger.entries()[0]).toMatchObject({ state: 'dropped', detail: 'the subscription is gone' })
  })

  test('aborts attempts in progress on close and accepts no more events', async () => {
    let asked = (): void => {}
    const underWay = new Promise<void>((resolve) => {
      asked = resolve
    })
    const { courier, ledger, occurrence } = bench(LOCAL, (_url, _headers, _content, closing) => {
      asked()
      return new Promise((resolve) => closing.addEventListener('abort', () => resolve(down), { once: true }))
    })
    courier.publish(occurrence)
    await underWay
    await courier.close()
    courier.publish(occurrence)
    expect(ledger.entries()).toMatchObject([{ state: 'dropped', attempts: 1 }])
  })

  test('sends nothing if it closes during the signing', async () => {
    const { courier, ledger, occurrence } = bench(LOCAL, async () => ({ verdict: 'delivered', detail: '' }))
    courier.publish(occurrence)
    await courier.close()
    expect(ledger.entries()).toMatchObject([{ state: 'dropped', detail: 'the sandbox closes' }])
  })

  test('ignores events of other groups', async () => {
    const { courier, ledger, occurrence } = bench(LOCAL, async () => down)
    courier.publish({ ...occurrence, group: '/' })
    courier.publish({ ...occurrence, group: '0'.repeat(40) })
    expect(ledger.entries()).toEqual([])
  })
})

describe('delivery', () => {
  const { sandbox, call, get, post, patch, remove } = running({ data: 'empty', allowHttpSinks: true }, { fresh: true })

  let sink: SinkServer
  beforeEach(async () => {
    sink = await startSink()
  })
  afterEach(() => sink.close())

  const org = (): string => sandbox().organization

  /** Subscribes the sink to `group` and takes the subscription's own event from the inbox. */
  const subscribe = async (group = org()): Promise<string> => {
    const { json } = await post(`/events/v2/subscriptions/${group}`, { sink: sink.url })
    await sink.take()
    return json.uid
  }

  /** The next events in order of occurrence. They are sent concurrently and may arrive in any order. */
  const taken = async (count: number) => {
    const events = await sink.take(count)
    const ids = column((await get('/-/deliveries')).json, 'id')
    const placeOf = (event: (typeof events)[number]) => ids.indexOf(event.headers['ce-id'])
    return events.toSorted((a, b) => placeOf(a) - placeOf(b))
  }

  const advance = (advanceMs: number) => post('/-/clock', { advanceMs })

  describe('events at a sink (semantics §7.2–7.4)', () => {
    test('are CloudEvents in binary mode with actor and body', async () => {
      await subscribe()
      const group = (await post(`/iam/v2/groups/${org()}`, { name: 'new', description: 'a folder' })).json
      const [event] = await sink.take()
      expect(event?.method).toBe('POST')
      expect(event?.headers).toMatchObject({
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        'ce-source': `${sandbox().url}/iam/v2/groups`,
        'ce-type': 'dev.chainguard.api.iam.group.created.v1',
        'ce-subject': group.uid,
        'ce-group': group.uid,
        'ce-time': '2026-03-01T12:00:00.000Z',
        'ce-audience': 'customer',
        'ce-bodytype': 'chainguard.platform.iam.v2.Group',
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      })
      expect(event?.json).toEqual({ actor: { subject: event?.headers['ce-actor'] }, body: group })
    })

    test("are signed by the sandbox's issuer for the subscription's group and content", async () => {
      await subscribe()
      await post(`/iam/v2/groups/${org()}`, { name: 'new' })
      const [event] = await sink.take()
      const token = event?.headers.authorization?.replace(/^Bearer /, '') ?? ''
      const configuration = (await get('/.well-known/openid-configuration')).json
      const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(configuration.jwks_uri)), {
        issuer: configuration.issuer,
        audience: 'customer',
        currentDate: new Date(START),
      })
      expect(payload.sub).toBe(`webhook:${org()}`)
      expect(payload['webhook']).toEqual({
        digest: `sha256:${createHash('sha256')
          .update(event?.text ?? '')
          .digest('hex')}`,
      })
    })

    test('include the creation of the subscription, but not its end', async () => {
      const { uid } = (await post(`/events/v2/subscriptions/${org()}`, { sink: sink.url })).json
      const [created] = await sink.take()
      expect(created?.headers).toMatchObject({
        'ce-type': 'dev.chainguard.api.events.subscription.created.v1',
        'ce-subject': uid,
        'ce-group': org(),
      })
      await remove(`/events/v2/subscriptions/${uid}`)
      expect((await get('/-/deliveries')).json).toHaveLength(1)
    })

    test('come from the group and every group below it, from no other', async () => {
      const folder = (await post(`/iam/v2/groups/${org()}`, { name: 'folder' })).json
      await subscribe(folder.uid)
      await post(`/registry/v2/repos/${org()}`, { name: 'above' })
      const inner = (await post(`/iam/v2/groups/${folder.uid}`, { name: 'inner' })).json
      await post(`/registry/v2/repos/${inner.uid}`, { name: 'below' })
      expect((await taken(2)).map(({ json }) => json.body.name)).toEqual(['inner', 'below'])
      expect(sink.pending()).toBe(0)
    })
  })

  describe('events (semantics §7.1)', () => {
    test('have the same types for v1 calls, in the words of v1', async () => {
      await subscribe()
      const repo = (await post(`/registry/v1/repos/${org()}`, { name: 'one' })).json
      await call('PUT', `/registry/v1/repos/${repo.id}`, { body: { name: 'one', description: 'changed' } })
      await remove(`/registry/v1/repos/${repo.id}`)
      const [created, updated, deleted] = await taken(3)
      expect([created, updated, deleted].map((event) => event?.headers['ce-type'])).toEqual([
        'dev.chainguard.api.platform.registry.repo.created.v1',
        'dev.chainguard.api.platform.registry.repo.updated.v1',
        'dev.chainguard.api.platform.registry.repo.deleted.v1',
      ])
      expect(created?.json.body).toEqual(repo)
      expect(updated?.json.body.description).toBe('changed')
      expect(deleted?.json.body).toEqual({ id: repo.id })
      expect(deleted?.headers).toMatchObject({ 'ce-subject': repo.id, 'ce-bodytype': 'chainguard.platform.registry.DeleteRepoRequest' })
    })

    test('do not follow failures, reads and calls that change nothing', async () => {
      await subscribe()
      const { uid } = (await post(`/registry/v2/repos/${org()}`, { name: 'one' })).json
      await sink.take()
      await post(`/registry/v2/repos/${org()}`, { name: 'one' })
      await patch(`/registry/v2/repos/${uid}`, {})
      await get(`/registry/v2/repos/${uid}`)
      await remove(`/registry/v1/repos/${org()}/0123456789abcdef`)
      await remove(`/iam/v2/roleBindings/${org()}/0123456789abcdef`)
      await patch('/iam/v2/identities:updateIdentityMetadata', { identityMetadata: { company: 'Example' } })
      expect((await get('/-/deliveries')).json).toHaveLength(2)
    })

    test('contain no secrets', async () => {
      await subscribe()
      const roleUid = (await get('/iam/v2/roles?name=viewer')).json.roles[0].uid
      const invite = (await post(`/iam/v2/groupInvites/${org()}`, { roleUid, ttl: '3600s' })).json
      const oidc = { issuer: 'https://idp.example.com', clientId: 'id', clientSecret: 'hush' }
      const provider = (await post(`/iam/v2/identityProviders/${org()}`, { name: 'idp', defaultRole: roleUid, oidc })).json
      const scim = (await post(`/iam/v2/identityProviders/${provider.uid}:generateScimToken`, {})).json
      const events = await taken(3)
      expect(events[0]?.json.body).toEqual({ uid: invite.uid, expirationTime: invite.expirationTime })
      expect(events[1]?.text).not.toContain('hush')
      expect(events[2]?.headers).toMatchObject({ 'ce-subject': provider.uid, 'ce-group': org() })
      expect(events[2]?.json.body.identityProviderUid).toBe(provider.uid)
      expect(events[2]?.text).not.toContain(scim.token)
    })

    test('have no body for a deleted association', async () => {
      await subscribe()
      await post(`/iam/v2/accountAssociations/${org()}`, { name: 'clouds', amazon: { account: '123456789012' } })
      await remove(`/iam/v2/accountAssociations/${org()}`)
      const [, deleted] = await taken(2)
      expect(Object.keys(deleted?.json)).toEqual(['actor'])
      expect(deleted?.headers).toMatchObject({ 'ce-subject': org(), 'ce-group': org() })
    })
  })

  describe('delivery (semantics §7.4)', () => {
    test('repeats a failed attempt with the same id, after one second and five more', async () => {
      await subscribe()
      sink.answer(503, 429, 200)
      await post(`/registry/v2/repos/${org()}`, { name: 'one' })
      const [first] = await sink.take()
      const state = async () => (await get('/-/deliveries')).json.at(-1)
      await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'waiting', attempts: 1, detail: 'HTTP 503' }))
      await advance(999)
      expect(sink.pending()).toBe(0)
      await advance(1)
      const [second] = await sink.take()
      await vi.waitFor(async () => expect(await state()).toMatchObject({ attempts: 2 }))
      await advance(5_000)
      const [third] = await sink.take()
      expect(new Set([first, second, third].map((event) => event?.headers['ce-id'])).size).toBe(1)
      expect([second?.text, third?.text]).toEqual([first?.text, first?.text])
      await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'delivered', attempts: 3 }))
    })

    test.each([400, 403, 404, 302])('ends with an answer of %d', async (status) => {
      await subscribe()
      sink.answer(status)
      await post(`/registry/v2/repos/${org()}`, { name: 'one' })
      await sink.take()
      await vi.waitFor(async () => expect((await get('/-/deliveries')).json.at(-1)).toMatchObject({ state: 'dropped', attempts: 1 }))
    })

    test('stays on this machine', async () => {
      await post(`/events/v2/subscriptions/${org()}`, { sink: 'https://sink.example.com/events' })
      await vi.waitFor(async () =>
        expect((await get('/-/deliveries')).json).toEqual([
          expect.objectContaining({ state: 'dropped', detail: 'the sink is not on this machine' }),
        ]),
      )
    })

    test('does not hold up the close of the sandbox', async () => {
      await subscribe()
      sink.answer(500)
      await post(`/registry/v2/repos/${org()}`, { name: 'one' })
      await sink.take()
      await sandbox().close()
      expect(sink.pending()).toBe(0)
    })
  })
})
