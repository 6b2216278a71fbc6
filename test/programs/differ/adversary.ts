import { setTimeout as delay } from 'node:timers/promises'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { runCommand } from '../../app/cli/support.ts'
import { v1Client } from '../../grpc/v1-client.ts'
import { seeded } from '../../stage/clocks.ts'
import { startQuietSandbox } from '../../stage/stage.ts'
import { shuffled } from '../mutants/mutant.ts'
import { createTally, type Slice, type SliceOptions, score, type Tally } from './judge.ts'
import { type Differ, type OneCaller, type RelayedAnswer, type Spoil, startDiffer } from './stage.ts'

/** A way in which v2 can be wrong. */
export interface Way {
  readonly name: string
  readonly spoil: Spoil
  /** One more call mends it: of a list that is too short, or of a read whose connection is reset. A client sees nothing of one such answer. */
  readonly heals?: true
  /** Only the deadline tells it. Every other way has all the time that a busy machine takes. */
  readonly isLate?: true
}

/** Statuses of HTTP and of its registry, and some that nobody registered. A status below 200 ends no answer. */
const SUCCESSES = [201, 202, 203, 204, 205, 206, 207, 226, 299]
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308]
const REFUSALS = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428,
]
const LIMITS = [429, 431, 451, 460, 499]
const FAILURES = [500, 501, 502, 503, 504, 505, 506, 507, 508, 511, 520, 530, 599]

/** The gRPC code that v2 writes into the body of a status (specification §3). */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  412: 9,
  429: 8,
  499: 1,
  501: 12,
  503: 14,
  504: 4,
}

const JSON_TYPE = { 'content-type': 'application/json' }

const answer = (status: number, body: unknown, headers = JSON_TYPE): RelayedAnswer => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

const errorBody = (status: number) => ({ code: CODES[status] ?? (status >= 500 ? 13 : 2), message: 'no', details: [] })

const always = (name: string, made: RelayedAnswer | 'reset'): Way => ({ name, spoil: async () => made })

const changed = (name: string, change: (right: RelayedAnswer) => RelayedAnswer): Way => ({
  name,
  spoil: async (_, forward) => change(await forward()),
})

const withStatus = (status: number) => changed(`answers ${status} with the right body`, (right) => ({ ...right, status }))

// biome-ignore lint/suspicious/noExplicitAny: a decoded list, changed in every way
const rows = (name: string, change: (list: any[], whole: any) => unknown) =>
  changed(name, (right) => {
    const whole = JSON.parse(right.body.toString())
    const list = Object.values(whole).find(Array.isArray) ?? []
    return { ...right, body: Buffer.from(JSON.stringify(change(list, whole) ?? whole)) }
  })

const healing = (way: Way): Way => ({ ...way, heals: true })

const first = (name: string, change: object) => rows(name, (list) => void (list.length > 0 && Object.assign(list[0], change)))

const text = (name: string, change: (right: string) => string) =>
  changed(name, (right) => ({ ...right, body: Buffer.from(change(right.body.toString())) }))

/** Milliseconds in which a side must answer in these runs, and after which a late one comes. */
export const ANSWER_MS = 1500
const LATE_MS = 2500

const statuses: readonly Way[] = [
  ...[...SUCCESSES, ...REDIRECTS].map(withStatus),
  ...[...REDIRECTS, ...REFUSALS, ...LIMITS, ...FAILURES].map((status) => always(`answers ${status}`, answer(status, errorBody(status)))),
]

const transports: readonly Way[] = [
  healing(always('resets the connection', 'reset')),
  {
    name: 'answers too late',
    isLate: true,
    spoil: async (_, forward) => {
      await delay(LATE_MS)
      return forward()
    },
  },
  always('answers nothing', answer(200, '')),
  always('answers a page of HTML', answer(200, '<html></html>', { 'content-type': 'text/html' })),
  always('answers null', answer(200, 'null')),
  always('answers a list', answer(200, '[]')),
  always('answers an empty object', answer(200, '{}')),
  always('answers a text', answer(200, '"yes"')),
  text('breaks off in the middle', (right) => right.slice(0, right.length / 2)),
  text('adds text behind its JSON', (right) => `${right}}`),
  text('answers 2 MiB too much', (right) => right.replace(/\}$/, `,"more":"${'x'.repeat(2 ** 21)}"}`)),
]

const contents: readonly Way[] = [
  rows('loses all rows and says so', (list, whole) => ({ ...whole, ...emptied(whole, list), totalCount: 0 })),
  healing(rows('loses the last row', (list) => void list.pop())),
  healing(rows('loses the first row', (list) => void list.shift())),
  rows('shows a row twice', (list) => void (list.length > 0 && list.push(list[0]))),
  rows('shows a row of somebody else', (list) => void (list.length > 0 && list.push({ ...list[0], uid: 'f'.repeat(40), name: 'foreign' }))),
  rows('names no list', (_, whole) => Object.fromEntries(Object.entries(whole).filter(([, value]) => !Array.isArray(value)))),
  rows('names the list otherwise', (list) => ({ rows: list })),
  first('changes a name', { name: 'wrong' }),
  first('changes a description', { description: 'wrong' }),
  first('forgets a name', { name: undefined }),
  first('makes a name null', { name: null }),
  first('makes a name a number', { name: 7 }),
  first('makes a name a list', { name: ['a'] }),
  first('changes a uid', { uid: 'e'.repeat(40) }),
  first('changes a time', { createTime: '1999-01-01T00:00:00Z' }),
  healing(rows('counts more rows than there are', (list, whole) => ({ ...whole, totalCount: list.length + 5 }))),
  rows('turns the order around', (list) => void list.reverse()),
]

function emptied(whole: object, list: unknown): object {
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, value === list ? [] : value]))
}

/** What v2 may do to a read. */
export const READ_WAYS: readonly Way[] = [...statuses, ...transports, ...contents]

/** What v2 may do to a write. */
export const WRITE_WAYS: readonly Way[] = [
  ...[...REFUSALS, ...LIMITS, ...FAILURES].map((status) => always(`answers ${status} to a write`, answer(status, errorBody(status)))),
  always('resets the connection of a write', 'reset'),
  changed('answers a write with a description of 2 MiB', (right) => ({
    ...right,
    body: Buffer.from(JSON.stringify({ ...JSON.parse(right.body.toString()), description: 'x'.repeat(2 ** 21) })),
  })),
  always('answers nothing to a write', answer(200, '')),
  always('answers an empty object to a write', answer(200, '{}')),
  {
    name: 'answers a write and does not do it',
    spoil: async ({ body }, forward) => {
      const right = await forward({ method: 'GET', body: undefined })
      return { ...right, body: Buffer.from(JSON.stringify({ ...JSON.parse(right.body.toString()), ...JSON.parse(String(body)) })) }
    },
  },
  {
    name: 'does half of a write',
    spoil: async ({ body }, forward) => {
      const { description: _, ...half } = JSON.parse(String(body)) as Record<string, unknown>
      return forward({ body: Buffer.from(JSON.stringify({ ...half, name: 'half' })) })
    },
  },
  {
    name: 'does a write and says that it failed',
    spoil: async (_, forward) => {
      await forward()
      return answer(500, errorBody(500))
    },
  },
]

/** READY at this target takes 66 clean observations. */
const TARGET = 0.05
const CALLERS = 12

/** Times that each caller sends each kind of request while v2 is wrong. Where it always is, the first must do. */
const ROUNDS = 4

const NOT_READY = 'READY was not reached'

/** Times that a case is tried until READY is reached. */
const TRIES = 3

type Rule = ModeRules['rules'][number]
type Canary = NonNullable<Rule['canary']>

const canaryOf = (canary: object): readonly Rule[] => [{ operations: 'iam.*', clients: '*', mode: 'diff-v1', canary: canary as Canary }]

/** Where requests are compared. */
const MODES = {
  'diff-v1': { mode: 'diff-v1', rules: [] },
  'diff-v2': { mode: 'diff-v2', rules: [] },
  canary: { mode: 'diff-v1', rules: canaryOf({ mode: 'diff-v2', percent: 50 }) },
  rollout: {
    mode: 'diff-v1',
    rules: canaryOf({ mode: 'diff-v2', rollout: { name: 'iam', target: TARGET, steps: [{ percent: 50, hold: '1h' }] } }),
  },
} as const

/** Which answers are spoiled. */
const SCOPES = ['all', '10 %', 'one caller', 'one kind', 'one replica'] as const

/** Replicas that share a store. The verdict of each of them is asked for. */
const REPLICAS = 2

/** How a request is sent: the nth kind of a caller. */
interface Carrier {
  readonly name: string
  readonly operation: string
  /** v2 calls that are spoiled. */
  readonly isSpoiled: (method: string, path: string) => boolean
  readonly kinds: readonly number[]
  prepare(differ: Differ, caller: OneCaller, sandbox: Sandbox): Promise<Send>
}

type Send = (kind: number) => Promise<unknown>

const isRead = (method: string, path: string) => method === 'GET' && path.startsWith('/iam/v2/groups')

const KINDS = [0, 1, 2, 3, 4, 5, 6]

/** A parameter of a list, by its name in the message. */
type Parameter = readonly [name: string, value: string] | undefined

/** Returns the parameters of each kind of list. Each list has a row, so that every way shows in it. */
async function kindsOf({ url, tokens, organization }: Sandbox): Promise<readonly Parameter[]> {
  const answer = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: `Bearer ${tokens.owner}` } })
  const { items } = (await answer.json()) as { items: readonly { id: string; name: string }[] }
  const child = items.find(({ id }) => id.startsWith(`${organization}/`))!
  return [
    undefined,
    ['name', child.name],
    ['id', organization],
    ['id', child.id],
    ['uidp.children_of', organization],
    ['uidp.descendants_of', organization],
    ['uidp.in_root', 'true'],
  ]
}

const urlOf = (one: Parameter) => `/iam/v1/groups${one ? `?${new URLSearchParams([[...one]])}` : ''}`

const READ_CARRIERS: readonly Carrier[] = [
  {
    ...{ name: 'REST', operation: 'iam.groups.list', isSpoiled: isRead, kinds: KINDS },
    async prepare(_, caller, sandbox) {
      const urls = (await kindsOf(sandbox)).map(urlOf)
      return (kind) => caller.send('GET', urls[kind]!)
    },
  },
  {
    ...{ name: 'gRPC', operation: 'iam.groups.list', isSpoiled: isRead, kinds: KINDS },
    async prepare(_, { token, url }, sandbox) {
      const client = v1Client(url, token)
      const messages = (await kindsOf(sandbox)).map((one) => {
        if (!one) return {}
        const [name = '', below] = one[0].split('.')
        return below === undefined ? { [name]: one[1] } : { uidp: { [below]: below === 'in_root' ? true : one[1] } }
      })
      return (kind) => client.call('iam.Groups/List', messages[kind]!)
    },
  },
]

const WRITTEN = { operation: 'iam.groups.update', kinds: KINDS, isSpoiled: (method: string) => method === 'PATCH' }

/** Makes a group of a caller and returns the bodies of its updates, one a kind. */
async function updatesOf({ url, tokens, organization }: Sandbox) {
  const headers = { authorization: `Bearer ${tokens.owner}` }
  const made = await fetch(`${url}/iam/v1/groups/${organization}`, { method: 'POST', headers, body: JSON.stringify({ name: 'made' }) })
  const { id } = (await made.json()) as { id: string }
  const names = ['text', '7', 'true']
  return { id, bodies: [undefined, 'text', ''].flatMap((description) => names.map((name) => ({ name, description }))) }
}

const WRITE_CARRIERS: readonly Carrier[] = [
  {
    ...{ name: 'REST', ...WRITTEN },
    async prepare(_, caller, sandbox) {
      const { id, bodies } = await updatesOf(sandbox)
      return (kind) => caller.send('PUT', `/iam/v1/groups/${id}`, bodies[kind]!)
    },
  },
  {
    ...{ name: 'gRPC', ...WRITTEN },
    async prepare(_, { token, url }, sandbox) {
      const { id, bodies } = await updatesOf(sandbox)
      const client = v1Client(url, token)
      return (kind) => client.call('iam.Groups/Update', { id, ...bodies[kind]! })
    },
  },
]

interface Scenario {
  readonly way: Way
  readonly mode: keyof typeof MODES
  readonly scope: (typeof SCOPES)[number]
  readonly carrier: Carrier
}

function scenarios(): readonly Scenario[] {
  const all = (ways: readonly Way[], modes: readonly (keyof typeof MODES)[], carriers: readonly Carrier[]) =>
    ways.flatMap((way) =>
      modes.flatMap((mode) => carriers.flatMap((carrier) => scopesOf(way).map((scope) => ({ way, mode, scope, carrier })))),
    )
  return [
    ...all(READ_WAYS, ['diff-v1', 'diff-v2', 'canary', 'rollout'], READ_CARRIERS),
    // Of a write that v1 served, v2 says nothing: it is never READY then (test/migrate/evidence/ledger.test.ts).
    ...all(WRITE_WAYS, ['diff-v2'], WRITE_CARRIERS),
  ]
}

function scopesOf({ heals }: Way): readonly Scenario['scope'][] {
  return heals ? SCOPES.filter((scope) => scope !== '10 %') : SCOPES
}

export const adversarySlice: Slice = {
  name: 'adversary',
  tries: 'ways in which v2 becomes wrong once READY was reached, which must end it',
  only: 'answers 4.*one caller, gRPC canary',
  run: adversary,
}

function nameOf({ way, scope, carrier, mode }: Scenario): string {
  return `${way.name}, ${scope}, ${carrier.name} ${mode}`
}

async function adversary({ seed, ms, only }: SliceOptions): Promise<readonly Tally[]> {
  const random = seeded(seed)
  const all = scenarios().filter((one) => only?.test(nameOf(one)) ?? true)
  if (all.length === 0) return []
  const order = ms === undefined ? all : shuffled(all, seed)
  const end = performance.now() + (ms ?? Number.POSITIVE_INFINITY)
  const sandbox = await startQuietSandbox({})
  const tally = createTally(`adversary, ${READ_WAYS.length + WRITE_WAYS.length} ways${only ? `, only ${only.source}` : ''}`, 1, all.length)
  const seenIn = createSeenIn(sandbox)
  for (const one of order) {
    if (performance.now() > end) break
    const seen = await seenIn(one)
    let stays = seen.length > 0 ? await run(one, seen, sandbox, random) : undefined
    // On a busy machine a right answer may come too late, so that nothing is READY yet.
    for (let nth = 1; nth < TRIES && stays?.startsWith(NOT_READY); nth += 1) stays = await run(one, seen, sandbox, random)
    // What no client sees may be told or not: v2 does what no v2 may do.
    if (seen.length === 0) tally.silent += 1
    else score(tally, stays && `${nameOf(one)}: ${stays}`)
  }
  await sandbox.close()
  return [tally]
}

/** Reaches READY, lets v2 be wrong in kinds where clients see it, and returns what still says READY; undefined if nothing does. */
async function run(
  { way, mode, scope, carrier }: Scenario,
  seen: readonly number[],
  sandbox: Sandbox,
  random: () => number,
): Promise<string | undefined> {
  let isWrong = false
  const chosen = Math.floor(random() * CALLERS)
  const chosenKind = seen[Math.floor(random() * seen.length)]!
  let kindNow = 0
  let calls = Math.floor(random() * 10)
  const hits: Readonly<Record<Scenario['scope'], (caller: number, replica: number) => boolean>> = {
    all: () => true,
    '10 %': () => ++calls % 10 === 0,
    'one caller': (caller) => caller === chosen,
    'one kind': () => kindNow === chosenKind,
    'one replica': (_, replica) => replica === 0,
  }
  const config = { 'diff.deadlineMs': ANSWER_MS, 'limits.deadlineMs': ANSWER_MS, 'diff.answerBytes': 2 ** 20, 'fallback.perMinute': 0 }
  const { mode: side, rules } = MODES[mode]
  const replicas = scope === 'one replica' ? REPLICAS : 1
  const differ = await startDiffer({ sandbox, mode: side, rules: [...rules], config, replicas })
  try {
    const senders: Send[] = []
    for (let nth = 0; nth < CALLERS; nth += 1) {
      const v2: Spoil = async (call, forward) => {
        const isHit = isWrong && carrier.isSpoiled(call.method, pathOf(call)) && hits[scope](nth, caller.replica)
        return isHit ? way.spoil(call, forward) : forward()
      }
      const caller: OneCaller = differ.caller({ v2 })
      await caller.introduce()
      senders.push(await carrier.prepare(differ, caller, sandbox))
    }
    const round = async (kinds: readonly number[]) => {
      for (const kind of kinds) {
        kindNow = kind
        await Promise.all(senders.map((send) => send(kind)))
        await differ.settled()
      }
    }
    await round(carrier.kinds)
    const before = await saysReady(differ, carrier.operation)
    if (before.length < 3 * replicas) return `${NOT_READY}: ${await whyNot(differ, carrier.operation)}`
    isWrong = true
    const rounds = scope === 'all' ? 1 : ROUNDS
    let after = before
    // A part of the answers ends READY of the records later: an open circuit, of which they know nothing, ends it before the share does.
    for (let nth = 0; nth < rounds && (after.length > 0 || scope === '10 %'); nth += 1) {
      await round(seen)
      after = await saysReady(differ, carrier.operation)
    }
    after = [...after, ...(await reportSaysReady(differ))]
    return after.length === 0 ? undefined : `${after.join(', ')} still says READY`
  } finally {
    await differ.close()
  }
}

/** Records are whole when their proxy has ended. */
async function reportSaysReady({ end, files }: Differ): Promise<readonly string[]> {
  await end()
  const said = [[], ['--each']].map(async (how) => {
    const { code } = await runCommand(['report', ...files, ...how, '--target', String(TARGET)])
    return code === 0 ? [['report', ...how].join(' ')] : []
  })
  return (await Promise.all(said)).flat()
}

const scopeOf = (operation: string) => ['--operations', operation, '--target', String(TARGET)]

async function whyNot({ proxy }: Differ, operation: string): Promise<string> {
  const { out } = await runCommand(['cutover', ...scopeOf(operation), '--admin', proxy.adminUrl])
  return out.trim().replaceAll(/\s+/g, ' ')
}

async function saysReady({ adminUrls }: Differ, operation: string): Promise<readonly string[]> {
  const scope = scopeOf(operation)
  const asked = adminUrls.flatMap((url): readonly (readonly string[])[] => [
    ['cutover', ...scope, '--admin', url],
    ['cutover', '--without-v1', ...scope, '--admin', url],
    ['cutover', '--each', ...scope, '--admin', url],
  ])
  const said = await Promise.all(asked.map(async (argv) => ((await runCommand(argv)).code === 0 ? [argv.slice(0, 2).join(' ')] : [])))
  return said.flat()
}

/** Returns the kinds of request in whose answers a client of mode v2 sees the way. Each is tried once. */
function createSeenIn(sandbox: Sandbox): (one: Scenario) => Promise<readonly number[]> {
  const known = new Map<Way, readonly number[]>()
  return async ({ way, carrier }) => {
    if (WRITE_CARRIERS.includes(carrier)) return carrier.kinds
    const found = known.get(way)
    if (found) return found
    const differ = await startDiffer({ sandbox, mode: 'v2', config: way.isLate ? { 'limits.deadlineMs': ANSWER_MS } : {} })
    const spoil: Spoil = (call, forward) => (isRead(call.method, pathOf(call)) ? way.spoil(call, forward) : forward())
    const [right, wrong] = [await answersTo(differ.caller(), sandbox), await answersTo(differ.caller({ v2: spoil }), sandbox)]
    await differ.close()
    if (right.some((answer) => !answer.startsWith('200 '))) throw new Error(`a right v2 answers ${right.join(', ')}`)
    const seen = KINDS.filter((kind) => right[kind] !== wrong[kind])
    known.set(way, seen)
    return seen
  }
}

async function answersTo(caller: OneCaller, sandbox: Sandbox): Promise<readonly string[]> {
  const answers = await Promise.all((await kindsOf(sandbox)).map((one) => caller.send('GET', urlOf(one))))
  return answers.map(({ status, text }) => `${status} ${text}`)
}

function pathOf({ url }: { readonly url: string }): string {
  return url.split('?')[0]!
}
