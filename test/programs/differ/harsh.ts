import { setTimeout as delay } from 'node:timers/promises'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { seeded } from '../../stage/clocks.ts'
import { startQuietSandbox } from '../../stage/stage.ts'
import { AGAINST, createTally, type Slice, type SliceOptions, type Tally } from './judge.ts'
import { COMPARING, type Comparing, type Differ, type OneCaller, type Spoil, startDiffer } from './stage.ts'

/** Sends a request to one service, or through Crosswalk. */
export type Send = (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly text: string }>

/** What writers share. */
export interface Scene {
  readonly organization: string
  /** A role that somebody holds, so that lists of bindings show it. */
  readonly role: string
  readonly identity: string
  readonly random: () => number
  /** False as soon as all writers shall end. */
  readonly goesOn: () => boolean
  /** Counts the writes that were answered with success. */
  wrote(): void
}

/** Most milliseconds between two writes of one resource. */
const GAP = 25

interface Kind {
  readonly path: string
  readonly body: (scene: Scene, name: string) => object
  readonly change?: (scene: Scene, name: string) => object
}

const described = (_: Scene, name: string) => ({ name, description: 'made' })
const changed = (_: Scene, name: string) => ({ name, description: 'changed' })
const ROLES = { v1: { capabilities: ['groups.list'] }, v2: { capabilities: ['CAP_IAM_GROUPS_LIST'] } }

const V1_KINDS: readonly Kind[] = [
  { path: '/iam/v1/groups', body: described, change: changed },
  { path: '/registry/v1/repos', body: described, change: changed },
  {
    path: '/iam/v1/roles',
    body: (...given) => ({ ...described(...given), ...ROLES.v1 }),
    change: (...given) => ({ ...changed(...given), ...ROLES.v1 }),
  },
  { path: '/iam/v1/identities', body: (_, name) => ({ name, claim_match: { issuer: 'https://issuer.example', subject: name } }) },
  { path: '/iam/v1/group_invites', body: ({ role }) => ({ ttl: '3600s', role }) },
  { path: '/events/v1/subscriptions', body: (_, name) => ({ sink: `https://localhost:9/${name}` }) },
]

const V2_KINDS: readonly Kind[] = [
  { path: '/iam/v2/groups', body: described },
  { path: '/registry/v2/repos', body: described },
  { path: '/iam/v2/roles', body: (...given) => ({ ...described(...given), ...ROLES.v2 }) },
]

/** Creates a resource, often changes it, and deletes it, again and again. */
export async function makesAndDeletes(send: Send, version: 'v1' | 'v2', scene: Scene): Promise<void> {
  const kinds = version === 'v1' ? V1_KINDS : V2_KINDS
  while (scene.goesOn()) {
    const { path, body, change } = kinds[Math.floor(scene.random() * kinds.length)]!
    const name = `short-${version}-${Math.floor(scene.random() * 1e9)}`
    const made = await send('POST', `${path}/${scene.organization}`, body(scene, name))
    if (made.status !== 200) throw new Error(`POST ${path}: ${made.status} ${made.text}`)
    scene.wrote()
    const { id, uid = id } = JSON.parse(made.text) as { id?: string; uid?: string }
    await pause(scene, GAP)
    if (change && scene.random() < 0.5) {
      await send('PUT', `${path}/${uid}`, change(scene, name))
      scene.wrote()
      await pause(scene, GAP)
    }
    await send('DELETE', `${path}/${uid}`)
    scene.wrote()
    await pause(scene, 6 * GAP)
  }
}

/** Describes the role otherwise, and as before, by turns at v1 and at v2. */
export async function renamesThereAndBack(send: Send, scene: Scene): Promise<void> {
  for (let nth = 0; scene.goesOn(); nth++) {
    const version = nth % 2 === 0 ? 'v1' : 'v2'
    for (const description of ['there', 'back']) {
      const body = { name: 'flip', description, ...ROLES[version] }
      const answer = await send(version === 'v1' ? 'PUT' : 'PATCH', `/iam/${version}/roles/${scene.role}`, body)
      if (answer.status !== 200) throw new Error(`the role was not renamed: ${answer.status} ${answer.text}`)
      scene.wrote()
      await pause(scene, GAP)
    }
    await pause(scene, 4 * GAP)
  }
}

/** Binds the identity to the role and takes it back, again and again. */
export async function bindsAndUnbinds(send: Send, scene: Scene): Promise<void> {
  while (scene.goesOn()) {
    const made = await send('POST', `/iam/v1/rolebindings/${scene.organization}`, { identity: scene.identity, role: scene.role })
    if (made.status === 200) {
      await pause(scene, GAP)
      await send('DELETE', `/iam/v1/rolebindings/${(JSON.parse(made.text) as { id: string }).id}`)
      scene.wrote()
    }
    await pause(scene, 4 * GAP)
  }
}

/** Sends past Crosswalk. */
export function straight(url: string, token: string): Send {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: answer.status, text: await answer.text() }
  }
}

export function through(caller: OneCaller): Send {
  return (method, path, body) => caller.send(method, path, body)
}

function pause({ random }: Scene, most: number): Promise<void> {
  return delay(random() * most)
}

/** What a run does with Crosswalk, and what it asks of it. */
interface Load {
  readonly name: string
  readonly replicas: number
  /** Reads in each mode. Each of them is compared, and most writes too. */
  readonly reads: number
  /** Callers that read at the same time. */
  readonly readers: number
  /** Most milliseconds that each call takes on its way to a service, and back. */
  readonly latency: number
  readonly lists: readonly string[]
  readonly windows: readonly string[]
  readonly writers: (own: () => Send, past: Send, scene: Scene) => readonly Promise<void>[]
  readonly modes: readonly HarshMode[]
}

type Canary = NonNullable<ModeRules['rules'][number]['canary']>

/** A rollout gives v2 half of the callers. It must not turn back. */
type HarshMode = Comparing | 'rollout'

const ROLLOUT: ModeRules['rules'] = [
  {
    ...{ operations: '*', clients: '*', mode: 'diff-v1' },
    canary: { mode: 'diff-v2', rollout: { name: 'harsh', target: 0.01, steps: [{ percent: 50, hold: '1h' }] } } as Canary,
  },
]

const LISTS = [
  ...['/iam/v1/groups', '/iam/v1/roles', '/iam/v1/rolebindings', '/iam/v1/identities', '/iam/v1/group_invites', '/registry/v1/repos'],
  ...['/events/v1/subscriptions'],
]

/** Most milliseconds of a call on its way, without a load that slows everything down. */
const QUIET = 50

const SIX_WRITERS: Omit<Load, 'name' | 'latency'> = {
  replicas: 2,
  reads: 2500,
  readers: 40,
  lists: LISTS,
  windows: ['', '?limit=10', '?limit=10&offset=10', '?limit=10&offset=20', '?limit=10&offset=10&order_by=name'],
  writers: (own, past, scene) => [
    ...Array.from({ length: 6 }, () => makesAndDeletes(own(), 'v1', scene)),
    renamesThereAndBack(past, scene),
    bindsAndUnbinds(own(), scene),
  ],
  modes: [...COMPARING, 'rollout'],
}

const LOADS: readonly Load[] = [
  {
    name: 'through and past',
    replicas: 1,
    reads: 2500,
    readers: 8,
    latency: 12.5,
    lists: LISTS,
    windows: ['', '', '', '?limit=3', '?offset=2&limit=4', '?order_by=name'],
    writers: (own, past, scene) => [
      makesAndDeletes(own(), 'v1', scene),
      makesAndDeletes(past, 'v1', scene),
      makesAndDeletes(past, 'v2', scene),
      renamesThereAndBack(past, scene),
      bindsAndUnbinds(own(), scene),
    ],
    modes: COMPARING,
  },
  { ...SIX_WRITERS, name: 'six writers, two replicas', latency: QUIET },
  { ...SIX_WRITERS, name: 'six writers, two replicas, three times as slow', latency: 3 * QUIET },
]

/** One false alarm in so many comparisons is allowed. */
const COMPARISONS_PER_ALARM = 2000

export const harshSlice: Slice = {
  name: 'harsh',
  tries: 'reads while several callers write through Crosswalk and past it, where nothing is wrong',
  only: 'six writers.*diff-v2',
  run: async ({ seed, ms, only }) => {
    const all = LOADS.flatMap((load) => load.modes.map((mode) => ({ load, mode, name: `harsh, ${load.name}, ${mode}` })))
    const chosen = all.filter(({ name }) => only?.test(name) ?? true)
    const tallies: Tally[] = []
    for (const one of chosen) tallies.push(await harshRun(one, { seed, ms: ms && ms / chosen.length }))
    return tallies
  },
}

interface Run {
  readonly load: Load
  readonly mode: HarshMode
  readonly name: string
}

async function harshRun({ load, mode, name }: Run, { seed, ms }: SliceOptions): Promise<Tally> {
  const sandbox = await startQuietSandbox({})
  const modes = mode === 'rollout' ? ({ mode: 'diff-v1', rules: ROLLOUT } as const) : { mode }
  const differ = await startDiffer({ sandbox, ...modes, replicas: load.replicas })
  const random = seeded(seed)
  const end = performance.now() + (ms ?? Number.POSITIVE_INFINITY)
  let isOver = false
  let writes = 0
  const wrote = () => {
    writes += 1
  }
  const scene: Scene = { ...(await held(sandbox)), random, goesOn: () => !isOver, wrote }
  const slow = slowly(load, random)
  const own = () => through(differ.caller({ v1: slow, v2: slow }))
  const writing = load.writers(own, straight(sandbox.url, sandbox.tokens.owner), scene)
  try {
    await readAll(load, differ, sandbox, random, end)
  } finally {
    isOver = true
    await Promise.all(writing)
  }
  await differ.settled()
  const told = async (path: string) => (await fetch(differ.proxy.adminUrl + path)).json()
  const { operations } = (await told('/evidence')) as { operations: readonly { circuit: { state: string } }[] }
  const circuits = operations.filter(({ circuit }) => circuit.state === 'open').length
  const phases = ((await told('/rollouts')) as readonly { phase: string }[]).map(({ phase }) => phase)
  const all = [...(await differ.close()).values()].flat()
  await sandbox.close()
  return tallyOf(name, all, { circuits, phases, writes }, ms !== undefined)
}

/** Makes the role that is renamed, and an identity that holds it. */
async function held({ url, tokens, organization }: Sandbox): Promise<Pick<Scene, 'organization' | 'role' | 'identity'>> {
  const send = straight(url, tokens.owner)
  const made = async (path: string, body: object) => {
    const { text } = await send('POST', `${path}/${organization}`, body)
    return (JSON.parse(text) as { id: string }).id
  }
  const role = await made('/iam/v1/roles', { name: 'flip', description: 'back', capabilities: ['groups.list'] })
  const claimed = (subject: string) => ({ name: subject, claim_match: { issuer: 'https://issuer.example', subject } })
  const holder = await made('/iam/v1/identities', claimed('holder'))
  await made('/iam/v1/rolebindings', { identity: holder, role })
  return { organization, role, identity: await made('/iam/v1/identities', claimed('guest')) }
}

async function readAll(load: Load, differ: Differ, { organization }: Sandbox, random: () => number, end: number): Promise<void> {
  const slow = slowly(load, random)
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
  let left = load.reads
  const reader = async () => {
    while (left > 0 && performance.now() < end) {
      left -= 1
      // A caller of its own for each read: identical observations count once.
      const caller = differ.caller({ v1: slow, v2: slow })
      await caller.introduce()
      const path = random() < 0.9 ? pick(load.lists) + pick(load.windows) : `/iam/v1/groups?uidp.descendants_of=${organization}`
      await caller.send('GET', path)
    }
  }
  await Promise.all(Array.from({ length: load.readers }, reader))
}

/** Passes a call on after a while, and its answer too. */
function slowly({ latency }: Load, random: () => number): Spoil {
  return async (_, forward) => {
    await delay(random() * latency)
    const answer = await forward()
    await delay(random() * latency)
    return answer
  }
}

interface Seen {
  /** Open circuits. */
  readonly circuits: number
  /** The phases of rollouts. */
  readonly phases: readonly string[]
  readonly writes: number
}

function tallyOf(name: string, all: readonly Comparison[], { circuits, phases, writes }: Seen, isSample: boolean): Tally {
  const alarms = all.filter(({ outcome }) => AGAINST.has(outcome))
  const of = (outcome: string) => all.filter((one) => one.outcome === outcome).length
  const counts = ['match', 'expected', 'noise', 'race', 'inconclusive', 'transient', 'mismatch', 'error'].map(
    (name) => `${of(name)} ${name}`,
  )
  return {
    ...createTally(name, 1),
    notes: [
      `${all.length} comparisons beside ${writes} writes: ${counts.join(', ')}; ${circuits} circuits opened${phases.map((phase) => `, the rollout is ${phase}`).join('')}`,
    ],
    silent: all.length - alarms.length,
    mayFlag: circuits === 0 && !phases.includes('turned-back') ? mayFlag(all.length, isSample) : -1,
    flagged: alarms.map(describe),
  }
}

/** A short sample may hold more of the few false alarms, by three standard errors. */
function mayFlag(comparisons: number, isSample: boolean): number {
  const allowed = comparisons / COMPARISONS_PER_ALARM
  return Math.floor(allowed + (isSample ? 3 * Math.sqrt(allowed) : 0))
}

function describe({ outcome, check, shape, reason = '', examples }: Comparison): string {
  const places = examples.slice(0, 4).map(({ kind, at, v1, v2 }) => `${kind} ${at} ${short(v1)}×${short(v2)}`)
  return `${outcome} ${check} ${shape} ${reason} ${places.join(', ')}`
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300)
}
