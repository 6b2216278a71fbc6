import { gzipSync } from 'node:zlib'
import { askBoth } from '../both-protocols.ts'
import type { Fault } from '../fault.ts'
import { messageIn, say } from '../say.ts'
import { type Behaviour, inWorld, serving } from '../world.ts'

/** As many codings as fit into the headers of an answer. */
const THOUSANDS = 3000

/** The depth up to which an answer is really packed; no decoder reaches the end of thousands. */
const DEEPEST = 100

const named = (count: number) => Array.from({ length: count }, () => 'gzip').join()

/** Packs a list without rows so many times. */
const packed = (count: number) =>
  Array.from({ length: count }).reduce((bytes: Buffer) => gzipSync(bytes, { level: 1 }), Buffer.from('{"groups":[]}'))

/** Answers in this many codings, all named in one header or each in its own. */
const coded = (count: number, inOne = true): Behaviour => {
  const body = packed(Math.min(count, DEEPEST))
  return (_, response) => {
    response.setHeader('content-encoding', inOne ? named(count) : named(count).split(','))
    response.end(body)
  }
}

/** Returns the result of a translated read of such an answer. */
const readOf = (behaviour: Behaviour) =>
  inWorld(behaviour, { 'upstream.v1': undefined }, async ({ proxy, upstream }) => {
    const answers = await askBoth(proxy.url, { target: '/iam/v1/groups' })
    const said = answers.map((answer) => (answer?.status === 200 ? say(answer) : `${say(answer)} ${answer && messageIn(answer)}`))
    return `${[...new Set(said)].join(' and ')}; ${upstream.seen.length} calls`
  })

/** Returns the answers to a write in so many codings, and the body that arrives where it is passed on. */
async function codedRequests(): Promise<string> {
  const body = packed(20)
  return inWorld(serving(0), {}, async ({ proxy, upstream }) => {
    const headers = { 'content-encoding': named(THOUSANDS) }
    const ask = (target: string) => askBoth(proxy.url, { method: 'POST', target, headers, body })
    const translated = await ask('/iam/v1/groups/abc')
    const before = upstream.seen.length
    const passed = [...(await ask('/registry/v1/repos/abc:checkPolicies')), ...(await ask('/iam/v2/groups/abc'))]
    const whole = upstream.seen.filter((seen) => seen.headers['content-encoding'] === named(THOUSANDS) && seen.body === body.toString())
    return `translated ${translated.map(say).join()}, ${before} passed on; native and v1 ${passed.map(say).join()}, ${whole.length} untouched`
  })
}

const TOO_MANY = '500/13 the v2 service sent an answer in more than 5 content codings; 2 calls'

export const codingAttacks: readonly Fault[] = [
  { name: 'an answer of v2 in five content codings', expected: '200, 0 rows; 2 calls', see: () => readOf(coded(5)) },
  { name: 'an answer of v2 in two headers of one coding each', expected: '200, 0 rows; 2 calls', see: () => readOf(coded(2, false)) },
  { name: 'an answer of v2 in thousands of content codings', expected: TOO_MANY, see: () => readOf(coded(THOUSANDS)) },
  { name: 'an answer of v2 in six headers of one coding each', expected: TOO_MANY, see: () => readOf(coded(6, false)) },
  {
    name: 'a request in thousands of content codings',
    expected: 'translated 400/3,400/3, 0 passed on; native and v1 200,200,200,200, 4 untouched',
    see: codedRequests,
  },
]
