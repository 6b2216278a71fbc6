import { setTimeout as delay } from 'node:timers/promises'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { seeded } from '../../stage/seeded.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { type Differ, startDiffer } from '../stage/differ.ts'
import { COMPARING, type Comparing } from '../stage/each-mode.ts'
import type { Spoil } from '../stage/relay.ts'
import { bindsAndUnbinds, makesAndDeletes, renamesThereAndBack, type Scene, straight, through } from './writers.ts'

/** Reads in each mode. Each of them is compared, and most writes too. */
const READS = 2500

/** Callers that read at the same time. */
const READERS = 8

/** Most milliseconds that each call takes on its way to a service, and back. */
const LATENCY = 12.5

/** One false alarm in so many comparisons is allowed. */
const COMPARISONS_PER_ALARM = 2000

/** Outcomes that count against v2, which is right all the time. */
const AGAINST: ReadonlySet<string> = new Set(['mismatch', 'error', 'transient'])

export const harshSlice: Slice = {
  name: 'harsh',
  tries: 'reads while several callers write through Crosswalk and past it, where nothing is wrong',
  run: async (options) => {
    const tallies: Tally[] = []
    for (const mode of COMPARING) tallies.push(await harshRun(mode, options))
    return tallies
  },
}

async function harshRun(mode: Comparing, { seed, ms }: SliceOptions): Promise<Tally> {
  const sandbox = await startQuietSandbox({})
  const differ = await startDiffer({ sandbox, mode })
  const random = seeded(seed)
  const end = performance.now() + (ms === undefined ? Number.POSITIVE_INFINITY : ms / COMPARING.length)
  let isOver = false
  let writes = 0
  const wrote = () => {
    writes += 1
  }
  const scene: Scene = { ...(await held(sandbox)), random, goesOn: () => !isOver, wrote }
  const writing = writers(differ, sandbox, scene)
  try {
    await readAll(differ, sandbox, random, end)
  } finally {
    isOver = true
    await Promise.all(writing)
  }
  await differ.settled()
  const circuits = await openCircuits(differ)
  const tally = tallyOf(mode, [...(await differ.records()).values()].flat(), circuits, writes, ms !== undefined)
  await differ.close()
  await sandbox.close()
  return tally
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

function writers(differ: Differ, { url, tokens }: Sandbox, scene: Scene): readonly Promise<void>[] {
  const past = straight(url, tokens.owner)
  const slow = slowly(scene.random)
  const own = through(differ.caller({ v1: slow, v2: slow }))
  return [
    makesAndDeletes(own, 'v1', scene),
    makesAndDeletes(past, 'v1', scene),
    makesAndDeletes(past, 'v2', scene),
    renamesThereAndBack(past, scene),
    bindsAndUnbinds(own, scene),
  ]
}

const LISTS = [
  '/iam/v1/groups',
  '/iam/v1/roles',
  '/iam/v1/rolebindings',
  '/iam/v1/identities',
  '/iam/v1/group_invites',
  '/registry/v1/repos',
  '/events/v1/subscriptions',
]
const WINDOWS = ['', '', '', '?limit=3', '?offset=2&limit=4', '?order_by=name']

async function readAll(differ: Differ, { organization }: Sandbox, random: () => number, end: number): Promise<void> {
  const slow = slowly(random)
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
  let left = READS
  const reader = async () => {
    while (left > 0 && performance.now() < end) {
      left -= 1
      // A caller of its own for each read: identical observations count once.
      const caller = differ.caller({ v1: slow, v2: slow })
      await caller.introduce()
      await caller.send('GET', random() < 0.9 ? pick(LISTS) + pick(WINDOWS) : `/iam/v1/groups?uidp.descendants_of=${organization}`)
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
}

/** Passes a call on after a while, and its answer too. */
function slowly(random: () => number): Spoil {
  return async (_, forward) => {
    await delay(random() * LATENCY)
    const answer = await forward()
    await delay(random() * LATENCY)
    return answer
  }
}

async function openCircuits({ proxy }: Differ): Promise<number> {
  const { operations } = (await (await fetch(`${proxy.adminUrl}/evidence`)).json()) as { operations: { circuit: { state: string } }[] }
  return operations.filter(({ circuit }) => circuit.state === 'open').length
}

function tallyOf(mode: Comparing, all: readonly Comparison[], circuits: number, writes: number, isSample: boolean): Tally {
  const alarms = all.filter(({ outcome }) => AGAINST.has(outcome))
  const of = (outcome: string) => all.filter((one) => one.outcome === outcome).length
  const counts = ['match', 'expected', 'noise', 'race', 'inconclusive', 'transient', 'mismatch', 'error'].map(
    (name) => `${of(name)} ${name}`,
  )
  return {
    ...createTally(`harsh, ${mode}`, 1),
    notes: [`${all.length} comparisons beside ${writes} writes: ${counts.join(', ')}; ${circuits} circuits opened`],
    silent: all.length - alarms.length,
    mayFlag: circuits === 0 ? mayFlag(all.length, isSample) : -1,
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
