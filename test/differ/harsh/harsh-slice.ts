import { setTimeout as delay } from 'node:timers/promises'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { seeded } from '../../stage/seeded.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { type Differ, startDiffer } from '../stage/differ.ts'
import { COMPARING, type Comparing } from '../stage/each-mode.ts'
import type { Spoil } from '../stage/relay.ts'
import { bindsAndUnbinds, makesAndDeletes, renamesThereAndBack, type Scene, type Send, straight, through } from './writers.ts'

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
  '/iam/v1/groups',
  '/iam/v1/roles',
  '/iam/v1/rolebindings',
  '/iam/v1/identities',
  '/iam/v1/group_invites',
  '/registry/v1/repos',
  '/events/v1/subscriptions',
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

/** Outcomes that count against v2, which is right all the time. */
const AGAINST: ReadonlySet<string> = new Set(['mismatch', 'error', 'transient'])

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
  const [circuits, phases] = [await openCircuits(differ), await phasesOf(differ)]
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

async function openCircuits({ proxy }: Differ): Promise<number> {
  const { operations } = (await (await fetch(`${proxy.adminUrl}/evidence`)).json()) as { operations: { circuit: { state: string } }[] }
  return operations.filter(({ circuit }) => circuit.state === 'open').length
}

async function phasesOf({ proxy }: Differ): Promise<readonly string[]> {
  const rollouts = (await (await fetch(`${proxy.adminUrl}/rollouts`)).json()) as readonly { phase: string }[]
  return rollouts.map(({ phase }) => phase)
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
