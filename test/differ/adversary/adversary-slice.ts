import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { runCommand } from '../../cli/support.ts'
import { v1Client } from '../../grpc/served/v1-client.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { seeded } from '../../stage/seeded.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { type Differ, type OneCaller, startDiffer } from '../stage/differ.ts'
import type { Spoil } from '../stage/relay.ts'
import { ANSWER_MS, READ_WAYS, type Way, WRITE_WAYS } from './ways.ts'

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
    // Of a write that v1 served, v2 says nothing: it is never READY then (test/modes/accounts.test.ts).
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
  const order = ms === undefined ? all : shuffled(all, random)
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
    else if (stays) tally.missed.push(`${nameOf(one)}: ${stays}`)
    else tally.found += 1
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

function shuffled<T>(all: readonly T[], random: () => number): readonly T[] {
  return all
    .map((one) => [random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}
