import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tables } from '../../examples/resource-manager/tables.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { createRouter } from '../../src/serve/route.ts'
import { operationsOf } from '../../src/tables/tables.ts'
import { complaintsAboutList, complaintsOf } from '../compat/judge.ts'
import { run } from '../compat/run.ts'
import { exampleCases } from './cases.ts'
import { type ExampleSides, startExample } from './sides.ts'

const router = createRouter(operationsOf(tables))

let sides: ExampleSides

beforeAll(async () => {
  sides = await startExample()
})

afterAll(() => sides.close())

describe('the contract of another API', () => {
  it.each(exampleCases)('$name', async (one) => {
    const [genuine, proxied] = await Promise.all([run(one, sides.genuine), run(one, sides.proxied)])
    expect(complaintsOf({ case: one, genuine, proxied }, tables.differences, router)).toEqual([])
  })

  it('has a case for each operation and each difference', () => {
    expect(complaintsAboutList(exampleCases, tables.differences)).toEqual([])
    const shown = new Set(exampleCases.flatMap(({ operations }) => operations))
    expect(operationsOf(tables).filter(({ id }) => !shown.has(id))).toEqual([])
  })

  it('has every operation of the public contract', () => {
    const document = JSON.parse(readFileSync(new URL('../../examples/resource-manager/openapi-v1.json', import.meta.url), 'utf8'))
    const paths = Object.entries<Record<string, unknown>>(document.paths)
    const public_ = paths.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    expect(
      operationsOf(tables)
        .map(({ method, template }) => `${method} ${template}`)
        .sort(),
    ).toEqual(public_.sort())
  })

  it('is ready when the service answers', async () => {
    const ready = await fetch(`${sides.proxy.adminUrl}/readyz`)
    expect(ready.status).toBe(200)
  })
})

describe('another API beside its first version', () => {
  const bearer = { authorization: 'Bearer t' }

  it('is compared, page tokens of both sides included', async () => {
    const { proxy, close } = await startExample({ asked: { modes: { ...ALL_V2, default: 'diff-v2' }, 'diff.learnEvery': 0 } })
    const { nextPageToken } = (await (await fetch(`${proxy.url}/v1/projects?pageSize=2`, { headers: bearer })).json()) as Page
    await proxy.idle()
    await fetch(`${proxy.url}/v1/projects?pageSize=2&pageToken=${nextPageToken}`, { headers: bearer })
    await fetch(`${proxy.url}/v1/projects?filter=parent.type:folder`, { headers: bearer })
    await fetch(`${proxy.url}/v1/projects/none-1`, { headers: bearer })
    await proxy.idle()
    const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    await close()
    const counted = [...text.matchAll(/crosswalk_comparisons_total\{operation="(.*)",outcome="(.*)"\} ([1-9].*)/g)]
    expect(counted.map(([, ...parts]) => parts.join(' ')).sort()).toEqual([
      'resourcemanager.projects.get match 1',
      'resourcemanager.projects.list expected 1',
      'resourcemanager.projects.list match 2',
    ])
  })

  it('tells a client to ask again while an update is under way', async () => {
    const { proxy, close } = await startExample({ slow: 2 })
    const put = { method: 'PUT', headers: { ...bearer, 'content-type': 'application/json' }, body: '{"name":"Lima mist"}' }
    const answer = await fetch(`${proxy.url}/v1/projects/lima-fog-1`, put)
    const { error } = (await answer.json()) as { error: { status: string } }
    await close()
    expect([answer.status, answer.headers.get('retry-after'), error.status]).toEqual([503, '1', 'UNAVAILABLE'])
  })
})

interface Page {
  readonly nextPageToken: string
}
