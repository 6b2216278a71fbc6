import { describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { IgnoreRule } from '../../../src/tables/signs.ts'
import { bearer, type Stage, startStage } from '../../stage/stage.ts'

describe('declared', () => {
  let stage: Stage

  const start = async (ignore: readonly IgnoreRule[] = []) => {
    const modes = { ...ALL_V2, default: 'diff-v1' as const }
    stage = await startStage({ proxy: { modes, 'diff.perSecond': 0, 'log.level': 'info', 'diff.ignore': ignore } })
  }

  /** Returns what `cutover` says of each operation that was asked. */
  async function standings(): Promise<Readonly<Record<string, string>>> {
    const { operations: evidence, traffic } = await stage.evidence()
    const operations = mappings.flatMap((mapping) => mapping.operations)
    const seen = { evidence, traffic: new Map(Object.entries(traffic)), clients: [] }
    const verdict = judgeCutover({ ...seen, operations, target: 0.001, withoutV1: false, isStrict: true })
    return Object.fromEntries(verdict.operations.map(({ operation, standing }) => [operation, standing]))
  }

  const refused = JSON.stringify({
    code: 3,
    message: 'Invalid argument',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INVALID_ARGUMENT', domain: 'x' }],
  })

  /** One plain request to each operation that may be refused for the window that it asks for, or for what v2 lacks. */
  async function plainRequests(): Promise<readonly string[]> {
    const idOf = async (path: string) => encodeURIComponent((await stage.request('GET', `${path}?page_size=1`)).body.items[0].id)
    const [advisories, artifacts] = ['/vulnerabilities/v1/advisories', '/libraries/v1/artifacts'] as const
    return [
      advisories,
      `${advisories}/${await idOf(advisories)}/events`,
      artifacts,
      `${artifacts}/count`,
      `${artifacts}/${await idOf(artifacts)}/versions`,
      `/registry/v1/eoltags?uidp.children_of=${await idOf('/registry/v1/repos')}`,
      '/advisory/v1/metadata',
    ]
  }

  describe('a v2 that answers 400 to everything', () => {
    it.each([
      ['without parameters', ''],
      ['for a right window', 'limit=5&offset=0'],
    ])('is a mismatch in every request %s, and no operation can be cut over', async (_, query) => {
      await start()
      const paths = await plainRequests()
      await stage.settled()
      for (const service of ['vulnerabilities', 'libraries', 'registry', 'advisory']) {
        await stage.fault({ match: `GET /${service}/v2/`, status: 400, body: refused })
      }
      for (const path of paths) expect((await stage.request('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)).status).toBe(200)
      await stage.settled()
      const { operations } = await stage.evidence()
      const alarms = operations.filter(({ mismatches, expected }) => mismatches > 0 || expected > 0)
      expect(alarms.map(({ operation, mismatches, expected }) => [operation, mismatches, expected])).toEqual(
        [
          'advisory.vulnerability_metadata.list',
          'libraries.artifacts.count',
          'libraries.artifacts.list',
          'libraries.artifacts.list_versions',
          'registry.eol_tags.list',
          'vulnerabilities.advisories.list',
          'vulnerabilities.advisory_events.list',
        ].map((operation) => [operation, 1, 0]),
      )
      const standing = await standings()
      expect(alarms.map(({ operation }) => standing[operation])).toEqual(alarms.map(() => 'outside'))
    })
  })

  describe('a count of repos', () => {
    it('is a mismatch if v2 has lost every repo', async () => {
      await start()
      const token = stage.sandbox.tokens.admin
      const repos = (await stage.request('GET', '/registry/v1/repos', { token })).body.items as { sync_config?: { source: string } }[]
      const [source] = new Set(repos.flatMap(({ sync_config }) => sync_config?.source ?? []))
      const path = `/registry/v1/repocountbysource/${source}`
      await stage.request('GET', path, { token })
      await stage.settled()
      expect(await counts()).toMatchObject({ mismatches: 0 })
      await stage.fault({ match: 'GET /registry/v2/repos', body: JSON.stringify({ repos: [], nextPageToken: '', totalCount: '0' }) })
      expect((await stage.request('GET', path, { token })).body.count).not.toBe('0')
      await stage.settled()
      expect(await counts()).toMatchObject({ mismatches: 1 })
      expect(await standings()).toMatchObject({ 'registry.repo_count_by_source.get': 'outside' })
    })

    const counts = async () =>
      (await stage.evidence()).operations.find(({ operation }) => operation === 'registry.repo_count_by_source.get')
  })

  describe('a window of a list that v1 pages by token', () => {
    const artifacts = async () => (await stage.evidence()).operations.find(({ operation }) => operation === 'libraries.artifacts.list')

    it.each([
      ['a row in it', { drop: '/artifacts/1' }],
      ['its first row', { shift: 1 }],
      ['all of its rows', { body: JSON.stringify({ artifacts: [], totalCount: '1', skipped: 1 }) }],
    ])('is expected as it is, and wrong if v2 loses %s', async (_, fault) => {
      await start()
      const path = '/libraries/v1/artifacts?limit=3&offset=1'
      await stage.request('GET', path)
      await stage.settled()
      expect(await artifacts()).toMatchObject({ mismatches: 0, expected: 1 })
      await stage.fault({ match: 'GET /libraries/v2/artifacts', ...fault })
      await stage.request('GET', path)
      await stage.settled()
      const { mismatches = 0, errors = 0, expected } = (await artifacts()) ?? {}
      expect({ wrong: mismatches + errors, expected }).toEqual({ wrong: 1, expected: 1 })
    })
  })

  describe('a difference that the operator ignores', () => {
    it('is expected until its date, and shown with its reason', async () => {
      const rule = { operations: 'registry.repos.list', at: '/items/*/name', reason: 'known', until: Date.parse('9999-01-01') }
      await start([rule, { ...rule, name: 'old', at: '/items/*/description', until: 0 }])
      await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'other' } })
      await stage.request('GET', '/registry/v1/repos')
      await stage.settled()
      await stage.clearFaults()
      await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/description', to: 'other' } })
      await stage.request('GET', '/registry/v1/repos?limit=5')
      await stage.settled()
      const { operations, declarations } = await stage.evidence()
      expect(operations).toMatchObject([{ operation: 'registry.repos.list', expected: 1, mismatches: 1 }])
      expect(declarations.slice(-2)).toEqual([
        { code: 'ignored:1', state: 'matched', findings: 1, comparisons: 2, ignored: { reason: 'known', until: rule.until } },
        { code: 'ignored:old', state: 'expired', findings: 0, comparisons: 2, ignored: { reason: 'known', until: 0 } },
      ])
    })

    it('keeps the proxy from starting if its rule fits nothing', async () => {
      await start()
      const rule = { operations: 'registry.repos.list', at: '/nothing', reason: 'r', until: 0 }
      await expect(startStage({ v1: null, v2: stage.sandbox.url, proxy: { 'diff.ignore': [rule] } })).rejects.toThrow(
        /^diff\.ignore\.0\.at: no answer/,
      )
    })
  })
})

describe('noise', () => {
  const UID = 'a'.repeat(40)

  /** Starts services whose lists of groups are what `v1` and `v2` return at the moment, and a proxy. */
  async function stage(answers: { v1: () => object; v2: () => object }, learnEvery = 0) {
    return startStage({
      v1: (request, response) => {
        const row = request.method === 'GET' ? answers.v1() : {}
        response.end(JSON.stringify(request.method === 'GET' ? { items: [row] } : row))
      },
      v2: (_, response) => void response.end(JSON.stringify({ groups: [answers.v2()], nextPageToken: '' })),
      mode: 'diff-v1',
      proxy: { 'diff.learnEvery': learnEvery },
    })
  }

  type Services = Pick<Awaited<ReturnType<typeof stage>>, 'url' | 'adminUrl' | 'evidence'>
  const comparisons = async (proxy: Services) => (await fetch(`${proxy.adminUrl}/comparisons`)).json() as Promise<Comparison[]>

  /** Sends this many requests, each from its own caller, and waits until all are compared. */
  async function ask(proxy: Services, times: number): Promise<void> {
    const before = (await proxy.evidence()).queue.done
    for (let nth = 0; nth < times; nth += 1) await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(`caller-${before + nth}`) })
    for (;;) if ((await proxy.evidence()).queue.done === before + times) return
  }

  /** A v1 service's answer about the group that v2 calls `{ uid, name: 'a' }`. */
  const v1Row = (more: object) => {
    const kinds = { kind: 'ORG_KIND_UNSPECIFIED', status: 'ORG_STATUS_UNSPECIFIED' }
    return {
      id: UID,
      name: 'a',
      description: '',
      resource_limits: {},
      verified: false,
      ...kinds,
      created_at: null,
      updated_at: null,
      ...more,
    }
  }

  /** Returns another description each time. */
  function moments() {
    let count = 0
    return () => {
      count += 1
      return v1Row({ description: `moment ${count}` })
    }
  }

  describe('a member that v1 changes by itself', () => {
    it('is learnt from two v1 reads and is noise then; a missing one still counts', async () => {
      let v1: () => object = moments()
      const proxy = await stage({ v1: () => v1(), v2: () => ({ uid: UID, name: 'a', description: 'x' }) }, 1)
      await ask(proxy, 3)
      const member = { operation: 'iam.groups.list', where: '/items/*/description', kind: 'value', asks: expect.any(Number) }
      expect((await proxy.evidence()).noise).toMatchObject([member])
      const before = (await proxy.evidence()).operations[0]?.noise ?? 0
      await ask(proxy, 2)
      expect((await proxy.evidence()).operations).toMatchObject([{ noise: before + 2, mismatches: 0 }])
      v1 = () => v1Row({ description: undefined })
      await ask(proxy, 1)
      expect((await proxy.evidence()).operations).toMatchObject([{ noise: before + 2, mismatches: 1 }])
    })

    it('is a race while it is not learnt, and never a mismatch', async () => {
      const proxy = await stage({ v1: moments(), v2: () => ({ uid: UID, name: 'a', description: 'x' }) })
      await ask(proxy, 3)
      expect((await proxy.evidence()).operations).toMatchObject([{ races: 3, mismatches: 0, noise: 0, n: 0 }])
    })
  })

  describe('a difference', () => {
    const AGAIN = expect.stringContaining('when it was asked again')
    const WRONG_NAME = { kind: 'value', where: '/items/*/name', count: 1 }
    const first = (answer: object, ...later: readonly [object]) => {
      const answers = [answer]
      return () => answers.shift() ?? later[0]
    }

    it.each([
      ['that persists while v1 does not change is a mismatch', v1Row({}), v1Row({}), 'b', 'mismatch', undefined],
      ['that v1 removes by changing is a race', v1Row({}), v1Row({ name: 'b' }), 'b', 'race', 'v1 changed between the two answers'],
      ['that occurred once, while v1 did not change, is transient', v1Row({}), v1Row({}), 'a', 'transient', AGAIN],
    ])('%s', async (_, v1, v1Later, v2Later, outcome, reason) => {
      const proxy = await stage({ v1: first(v1, v1Later), v2: first({ uid: UID, name: 'b' }, { uid: UID, name: v2Later }) })
      await ask(proxy, 1)
      const [found, ...others] = await comparisons(proxy)
      expect(others).toEqual([])
      expect(found).toMatchObject({ outcome, ...(reason === undefined ? { totals: [WRONG_NAME] } : { reason }) })
    })

    it('that occurred once, while the caller wrote, is a race', async () => {
      const names = ['wrong']
      let held = () => {}
      let arrived = () => {}
      const asked = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const modes = { ...ALL_V2, default: 'diff-v1' as const }
      const proxy = await startStage({
        v1: (request, response) => void response.end(JSON.stringify(request.method === 'GET' ? { items: [v1Row({})] } : {})),
        v2: (_, response) => {
          const name = names.shift()
          const answer = () => void response.end(JSON.stringify({ groups: [{ uid: UID, name: name ?? 'a' }], nextPageToken: '' }))
          if (name === undefined) return answer()
          held = answer
          arrived()
        },
        proxy: { modes, 'diff.learnEvery': 0, 'diff.verifyWrites': false },
      })
      await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('caller') })
      await asked
      await fetch(`${proxy.url}/iam/v1/groups/${UID}/${'b'.repeat(16)}`, { method: 'PUT', body: '{"name":"a"}', headers: bearer('caller') })
      held()
      for (;;) if ((await proxy.evidence()).queue.done === 2) break
      expect(await comparisons(proxy)).toMatchObject([{ outcome: 'race', reason: 'the caller wrote at the same time' }])
    })
  })
})
