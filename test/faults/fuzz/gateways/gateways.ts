import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { errorIn, messageIn } from '../../say.ts'
import type { WireAnswer } from '../../wire.ts'
import { type Behaviour, inWorld } from '../../world.ts'
import { openLane } from '../lanes.ts'
import type { Fuzzed } from '../over-http.ts'
import { type Conversation, callOf, conversations } from './conversations.ts'
import { SPOILS, type Spoil, type Spoiled } from './spoils.ts'

/** The number of parallel requests. */
const LANES = 16

/** The calls of a request that are spoilt: one of them, those of one collection, or all. */
const SCOPES = ['one', 'collection', 'all'] as const

/** A case as it is printed when it fails. */
interface Case {
  /** The names of a conversation and of its spoil. */
  readonly told: string
  readonly spoilt: string
  readonly scope: (typeof SCOPES)[number]
  /** The call that is spoilt, or whose collection is. */
  readonly at: number
  readonly number: number
}

const cases: fc.Arbitrary<Case> = fc
  .constantFrom(...conversations.values())
  .chain((some) => fc.constantFrom(...some))
  .chain((conversation) =>
    fc.record({
      told: fc.constant(conversation.name),
      spoilt: fc.constantFrom(...SPOILS.map(({ name }) => name)),
      scope: fc.constantFrom(...SCOPES),
      at: fc.nat({ max: conversation.calls.length - 1 }),
      number: fc.nat(),
    }),
  )

/** A case in play, and its results so far. */
interface Play extends Omit<Case, 'told' | 'spoilt'> {
  readonly conversation: Conversation
  readonly spoil: Spoil
  /** The calls that have been answered. */
  readonly made: Set<number>
  spoilt: Spoiled | undefined
  unknown: string | undefined
}

/**
 * Answers conversations as a gateway in front of v2 would spoil them.
 * It fails if a success did not come from v2, or if an answer of v2 becomes anything else.
 * It also fails if an error leaves v1's form or blames the client. The exception names the seed and the smallest case.
 */
export async function fuzzGateways(numRuns: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  const plays = new Map<string, Play>()
  const v2: Behaviour = (request, response) => {
    const play = plays.get(String(request.headers.authorization))
    const answer = play && answerOf(play, callOf(request.method, request.url))
    if (!answer) return void response.destroy()
    const { status, headers, body, cut } = answer
    if (!cut) return void response.writeHead(status, headers).end(body)
    response.writeHead(status, { ...headers, 'content-length': '9999' })
    response.write(body, () => response.destroy())
  }
  let keys = 0
  const played = async (one: Case, lane: ReturnType<typeof openLane>) => {
    const key = `Bearer ${keys++}`
    const play = playOf(one)
    plays.set(key, play)
    const answer = await lane.ask({ text: textOf(play.conversation, key), isHead: false })
    plays.delete(key)
    const kind = `${play.spoilt && !play.spoil.keeps ? 'spoilt' : 'said'} ${answer?.status ?? 'closed'}`
    statuses[kind] = (statuses[kind] ?? 0) + 1
    const wrong = wrongWith(play, answer)
    if (wrong !== undefined) throw new Error(`${wrong}\n${show(play)}\n${JSON.stringify(answer?.body)}`)
  }
  await inWorld(v2, { 'upstream.v1': undefined }, async ({ proxy }) => {
    const lanes = Array.from({ length: LANES }, () => openLane(proxy.url))
    const property = fc.asyncProperty(fc.array(cases, { minLength: LANES, maxLength: LANES }), async (some) => {
      await Promise.all(lanes.map((lane, at) => played(some[at] as Case, lane)))
    })
    await fc.assert(property, { numRuns: Math.ceil(numRuns / LANES), seed, endOnFailure: true })
    for (const lane of lanes) lane.close()
  })
  return { statuses }
}

const byName = new Map([...conversations.values()].flat().map((conversation) => [conversation.name, conversation]))

function playOf({ told, spoilt, ...rest }: Case): Play {
  const conversation = byName.get(told)
  const spoil = SPOILS.find(({ name }) => name === spoilt)
  if (!conversation || !spoil) throw new Error(`nothing is called ${told}, ${spoilt}`)
  return { ...rest, conversation, spoil, made: new Set(), spoilt: undefined, unknown: undefined }
}

function textOf({ method, target, body }: Conversation, key: string): string {
  const frame = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\n${frame}\r\n${Buffer.from(body).toString('latin1')}`
}

/** Returns the answer of the service, or of something before it, to a call; undefined for an unexpected call. */
function answerOf(play: Play, call: string): Spoiled | undefined {
  const { conversation, made, spoil, number } = play
  const fits = conversation.calls.flatMap((one, at) => (one.call === call ? [at] : []))
  const at = fits.find((one) => !made.has(one)) ?? fits.at(-1)
  const said = at === undefined ? undefined : conversation.calls[at]?.said
  if (at === undefined || !said) {
    play.unknown = call
    return undefined
  }
  made.add(at)
  const spoilt = isSpoilt(play, at) ? spoil.apply(said, number, call) : undefined
  play.spoilt ??= spoilt
  return spoilt ?? { ...said, headers: said.body === '' ? {} : { 'content-type': 'application/json' } }
}

function isSpoilt({ scope, at, conversation: { calls } }: Play, call: number): boolean {
  if (scope === 'one') return call === at
  return scope === 'all' || collectionOf(calls[call]?.call) === collectionOf(calls[at]?.call)
}

/** `/iam/v2/groups` */
const collectionOf = (call = '') => call.split(/[ ?:]/)[1]?.split('/').slice(0, 4).join('/')

/** Returns the mistake in the answer. It must be v2's answer, or an error because v2 did not give one; then the result is undefined. */
function wrongWith({ conversation, spoil, spoilt, unknown }: Play, answer: WireAnswer | undefined): string | undefined {
  if (!answer) return 'no answer'
  const { status, headers, body } = answer
  if (status < 400) {
    if (spoilt && !spoil.keeps) return `a success that v2 did not say, of ${spoil.name}`
    return isDeepStrictEqual(JSON.parse(Buffer.from(body, 'latin1').toString()), conversation.reply)
      ? undefined
      : `v2 said something else, and ${spoil.name} was done to it`
  }
  if (errorIn(body, headers.get('content-type')) === undefined) return 'an error that is not in v1 shape'
  if (messageIn({ body }) === 'internal error') return 'an error of our own making'
  if (!spoilt || spoil.keeps) return `an error, although v2 said it${unknown ? `; it was also asked ${unknown}` : ''}`
  return isBlamed(spoilt) || errorIn(body, headers.get('content-type')) !== 3 ? undefined : 'the client is blamed'
}

/** True if the spoilt answer itself blames the request. */
const isBlamed = ({ status, body }: Spoiled) => (status >= 400 && status < 500) || /"code":(3|9|11),/.test(String(body))

function show({ conversation, spoil, scope, at, number, spoilt }: Play): string {
  return JSON.stringify({ conversation: conversation.name, spoil: spoil.name, scope, call: conversation.calls[at]?.call, number, spoilt })
}
