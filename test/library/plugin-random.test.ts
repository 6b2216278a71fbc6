import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Crosswalk, createCrosswalk } from '../../src/index.ts'
import { anyRequest } from '../faults/fuzz/requests.ts'
import { sampleSeed, sizeOr } from '../faults/fuzz/size.ts'
import { talk } from '../faults/wire.ts'
import { until } from '../stage/until.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'
import { type Host, startHost } from './host.ts'

let [v2, v1, host, alone]: [Upstream?, Crosswalk?, Host?, Crosswalk?] = []
beforeAll(async () => {
  v2 = await startUpstream(answering({ items: [], totalCount: '0' }))
  const settings = { upstream: { v2: v2.url } }
  v1 = await createCrosswalk(settings)
  alone = await createCrosswalk(settings)
  await alone.listen()
  host = await startHost({ crosswalk: v1 }, { own: (app) => app.get('/own', async () => 'mine') })
})
afterAll(() => Promise.all([host?.app.close(), alone?.close(), v2?.close()]))

it('answers random requests as a server of its own does, unless the owner refuses them', async () => {
  const [inside, outside] = [host?.url ?? '', alone?.url ?? '']
  let same = 0
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ text, isHead }) => {
      const ask = async (url: string) => (await talk(url, text, 1, isHead ? [0] : [])).answers[0]
      const [hosted, own] = [await ask(inside), await ask(outside)]
      if (isFromOwner(hosted)) return
      expect({ status: hosted?.status, body: hosted?.body }).toEqual({ status: own?.status, body: own?.body })
      same += 1
    }),
    { numRuns: sizeOr(300), seed: sampleSeed },
  )
  expect(same).toBeGreaterThan(10)
  expect(await (await fetch(`${inside}/own`)).text()).toBe('mine')
  await until(async () => (await v1?.metrics())?.includes('crosswalk_requests_in_flight 0\n'), 'no request is in flight')
})

/** Node and Fastify refuse what is no HTTP, no URL, and no path or method of a route. Their answers have other forms than those of v1. */
function isFromOwner(answer: { readonly status: number; readonly body: string } | undefined): boolean {
  return answer === undefined || /"statusCode":|^$|FST_ERR/.test(answer.body)
}
