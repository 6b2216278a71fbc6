import fc from 'fast-check'
import { mappings } from '../../../mappings/index.ts'
import type { Resource } from '../../../src/tables/resource.ts'
import { errorIn, messageIn } from '../say.ts'
import type { WireAnswer } from '../wire.ts'
import { type Behaviour, inWorld } from '../world.ts'
import { openLane } from './lanes.ts'
import { anyRequest, type WireRequest } from './requests.ts'

/** The number of parallel requests. */
const LANES = 16

export interface Fuzzed {
  /** Answers by status, to show that the cases reach everything. */
  readonly statuses: Readonly<Record<string, number>>
}

/** An object that is any answer of v2: with a uid, the rows of every list, and a member of every other message. */
const ANYTHING = JSON.stringify({
  ...{ uid: 'a', response: 'pong', eligible: true, group: {}, identityProviderUid: 'a', documentIds: [], size: '1', architectures: [] },
  ...{ content: '', counts: [], documents: [], resolvedVulnsReports: [], parent: 'a', termsAcceptances: [] },
  ...Object.fromEntries(
    mappings.flatMap(({ operations }) =>
      operations.flatMap(({ answer }) => (answer && 'plural' in answer ? [[(answer as Resource).plural, []]] : [])),
    ),
  ),
})

/** v2 says how many rows it skipped, if it is asked to. */
function skipping(said: string, url = ''): string {
  const [, skip] = /[?&]skip=(\d+)/.exec(url) ?? []
  return skip === undefined ? said : said.replace('{', `{"skipped":${skip},`)
}

/** v2 accepts everything. */
const content: Behaviour = ({ method, url }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  // The group of a domain is a message, and that of accepted terms a uid.
  const group = url?.includes('/terms') ? ANYTHING.replace('"group":{}', '"group":"a"') : ANYTHING
  // A status is a member of an error, but for what is checked.
  const said = url?.includes(':check') ? group.replace('{', '{"status":"CHECK_STATUS_READY",') : skipping(group, url)
  response.end(method === 'DELETE' || url?.includes(':requestGroupAccess') ? '{}' : said)
}

/**
 * Sends random requests to the whole proxy. It fails if an answer leaves v1's form, is an error of our own, or does not arrive.
 * The exception names the seed and the smallest case.
 */
export function fuzzRequests(cases: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  return inWorld(content, { 'upstream.v1': undefined }, async ({ proxy }) => {
    const lanes = Array.from({ length: LANES }, () => openLane(proxy.url))
    const property = fc.asyncProperty(fc.array(anyRequest, { minLength: LANES, maxLength: LANES }), async (requests) => {
      await Promise.all(
        requests.map(async (request, at) => {
          const answer = await lanes[at]?.ask(request)
          const status = String(answer?.status ?? 'closed')
          statuses[status] = (statuses[status] ?? 0) + 1
          const wrong = wrongWith(request, answer)
          if (wrong !== undefined) throw new Error(`${wrong}\n${JSON.stringify(request.text)}\n${JSON.stringify(answer)}`)
        }),
      )
    })
    await fc.assert(property, { numRuns: Math.ceil(cases / LANES), seed, endOnFailure: true })
    for (const lane of lanes) lane.close()
    return { statuses }
  })
}

function wrongWith({ isHead }: WireRequest, answer: WireAnswer | undefined): string | undefined {
  if (!answer) return 'the connection was closed without an answer'
  const { status, headers, body } = answer
  if (status === 500) return 'v2 was content, and the answer is 500'
  if (isHead) return body === '' ? undefined : 'a HEAD was answered with a body'
  if (headers.get('content-type') !== 'application/json') return `the type is ${headers.get('content-type')}`
  if (status >= 400 && errorIn(body, 'application/json') === undefined) return 'the error has no v1 shape'
  if (status >= 400 && messageIn({ body }) === 'internal error') return 'an error of our own making'
  if (status < 400) JSON.parse(body)
  return undefined
}
