import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../../../stage/clocks.ts'
import { withPatience } from '../fault.ts'
import { type Child, inFlight, type Start, serve } from '../process/child.ts'
import { startScripted } from './upstream.ts'

const PLAYERS = 32

/** Milliseconds after which a case counts as a hang, among others and alone. Relevant limits are shorter, or much longer. */
const PATIENCE = 15_000
const PATIENCE_ALONE = 5000

export const DEATH = 'the process died'

export interface Played<C> {
  readonly one: C
  readonly wrong: string | undefined
}

export async function playMany<C extends Case>(prey: Prey<C>, victim: Victim, cases: readonly C[]): Promise<readonly Played<C>[]> {
  const played: Played<C>[] = []
  let next = 0
  let isOver = false
  const work = async (player: Player<C>) => {
    while (!isOver && victim.death() === undefined) {
      const one = cases[next++]
      if (!one) return
      const wrong = await patiently(player, one, PATIENCE)
      played.push({ one, wrong })
      if (wrong !== undefined) isOver = true
    }
  }
  const players = prey.players(victim, Math.min(PLAYERS, cases.length))
  await Promise.all(players.map(work))
  for (const player of players) player.close()
  return played
}

export async function playAlone<C extends Case>(prey: Prey<C>, victim: Victim, one: C): Promise<string | undefined> {
  await victim.revive()
  const [player] = prey.players(victim, 1)
  const wrong = player && (await patiently(player, one, PATIENCE_ALONE))
  player?.close()
  const death = await victim.autopsy()
  return death === undefined ? wrong : `${DEATH}: ${death}`
}

const patiently = <C>(player: Player<C>, one: C, ms: number) => withPatience(player.play(one), ms, 'a hang: no end', 'the client failed')

/** Returns the smallest case that fails alone, and its failure; of many, the first. `death` describes the end of the process. */
export async function blame<C extends Case>(
  prey: Prey<C>,
  victim: Victim,
  suspects: readonly Played<C>[],
  death: string | undefined,
): Promise<string> {
  for (const { one } of suspects) {
    const wrong = await playAlone(prey, victim, one)
    if (wrong === undefined) continue
    const smallest = await shrink(one, async (smaller) => kindOf(await playAlone(prey, victim, smaller)) === kindOf(wrong))
    return `${wrong}\n${brief(prey.show(smallest))}`
  }
  await victim.revive()
  const seen = death ?? suspects.map(({ wrong }) => wrong).join(', ')
  return `none is wrong alone, but among others; seen: ${seen}`
}

/** Does the same for leftovers of finished cases: plays them in ever smaller numbers. */
export async function blameLeftovers<C extends Case>(prey: Prey<C>, victim: Victim, cases: readonly C[]): Promise<string> {
  const leaves = async (some: readonly C[]) => {
    await victim.restart()
    await playMany(prey, victim, some)
    return (await victim.autopsy()) ?? victim.leftovers()
  }
  let guilty = cases
  while (guilty.length > 1) {
    const middle = Math.ceil(guilty.length / 2)
    const halves = [guilty.slice(0, middle), guilty.slice(middle)]
    const half = (await leaves(halves[0] as C[])) === undefined ? halves[1] : halves[0]
    guilty = half as readonly C[]
  }
  const [one] = guilty as [C]
  const left = await leaves([one])
  if (left === undefined) return 'by no case alone'
  const smallest = await shrink(one, async (smaller) => (await leaves([smaller])) !== undefined)
  return `${left}\n${brief(prey.show(smallest))}`
}

/** Returns a failure without the parts that differ between cases. */
const kindOf = (wrong: string | undefined) => wrong?.split(':', 1)[0]

const brief = (text: string) => text.replaceAll(/(..?)\1{40,}/g, (run, unit) => `${unit}…(${run.length})`)

async function shrink<C extends Case>(one: C, fails: (smaller: C) => Promise<boolean>): Promise<C> {
  let smallest = one
  for (let at = smallest.parts.length - 1; at >= 0; at--) {
    const smaller = { ...smallest, parts: smallest.parts.toSpliced(at, 1) }
    if (await fails(smaller)) smallest = smaller
  }
  return smallest
}

export type Dice = ReturnType<typeof diceOf>

/** Returns the dice of one case. They depend only on its seed and its number, so that each case can be replayed by itself. */
export function diceOf(seed: number, nth: number) {
  const random = seeded((seed + Math.imul(nth + 1, 0x9e3779b1)) | 0)
  const below = (most: number) => Math.floor(random() * most)
  return {
    /** A whole number from 0 to below `most`. */
    below,
    chance: (share: number) => random() < share,
    one: <T>(of: readonly T[]) => of[below(of.length)] as T,
    some: <T>(least: number, most: number, draw: () => T): T[] => Array.from({ length: least + below(most - least + 1) }, draw),
    /** The draw of one row, by weight. */
    weighed<T>(rows: readonly (readonly [weight: number, draw: () => T])[]) {
      let left = random() * rows.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, draw] of rows) {
        left -= weight
        if (left < 0) return draw()
      }
      return (rows[0] as (typeof rows)[number])[1]()
    },
  }
}

/** The number of cases between two checks for leftovers. */
const BLOCK = 2500

/** The number of cases that are replayed after a death, which is noticed some time after its connections broke. */
const RECENT = 1000

const ENOUGH = 5

/** Plays cases; returns the failures, each with the smallest case that causes it. */
export async function hunt<C extends Case>(prey: Prey<C>, victim: Victim, cases: number, seed: number): Promise<readonly string[]> {
  const failures: string[] = []
  for (let from = 0; from < cases && failures.length < ENOUGH; from += BLOCK) {
    const block = Array.from({ length: Math.min(BLOCK, cases - from) }, (_, at) => prey.draw(diceOf(seed, from + at)))
    for (let rest: readonly C[] = block; rest.length > 0 && failures.length < ENOUGH; ) {
      const played = await playMany(prey, victim, rest)
      rest = rest.slice(played.length)
      const death = await victim.autopsy()
      const suspects = suspectsOf(played, death)
      if (suspects.length > 0) failures.push(await blame(prey, victim, suspects, death))
    }
    const left = await victim.leftovers()
    if (left !== undefined) failures.push(`${left}; ${await blameLeftovers(prey, victim, block)}`)
  }
  return failures.map((failure) => `${prey.name}, CROSSWALK_SEED=${seed}: ${failure}`)
}

/** A death has many suspects: all cases that were running. */
function suspectsOf<C extends Case>(played: readonly Played<C>[], death: string | undefined): readonly Played<C>[] {
  return death === undefined ? played.filter(({ wrong }) => wrong !== undefined) : played.slice(-RECENT)
}

/** A case made of parts, so that it can be shrunk. */
export interface Case {
  readonly parts: readonly unknown[]
}

export interface Prey<C extends Case> {
  readonly name: string
  draw(dice: Dice): C
  players(victim: Victim, count: number): readonly Player<C>[]
  show(one: C): string
}

export interface Player<C> {
  /** Returns the proxy's mistake; undefined if this client saw none. */
  play(one: C): Promise<string | undefined>
  close(): void
}

/** Small limits, except where resources must be released without one. */
const LIMITS = {
  'log-level': 'fatal',
  'shutdown-ms': 1000,
  'fallbacks-per-minute': 0,
  connections: 32,
  'call-timeout-ms': 2000,
  'deadline-ms': 3000,
  'idle-timeout-ms': 60_000,
  'headers-timeout-ms': 2000,
}

/** The log line of an uncaught exception; the process drains then. */
const FATAL = /"level":60/

/** Milliseconds until the resources of finished requests must be released. */
const VICTIM_PATIENCE = 5000

export interface VictimSettings {
  /** Rules for a v1 service, which the same upstream plays; without them there is none. */
  readonly modes?: unknown
  readonly limits?: Readonly<Record<string, number>>
  /** Gets the head of every HTTP/1.1 request from the proxy. */
  readonly seen?: (head: string) => void
}

export type Victim = Awaited<ReturnType<typeof startVictim>>

/** Starts the proxy as a process of its own, in front of an upstream with scripted answers. */
export async function startVictim({ modes, limits, seen }: VictimSettings, start: Start) {
  const upstream = await startScripted(seen)
  const v1 = modes === undefined ? {} : { 'upstream-v1': upstream.url, mode: JSON.stringify(modes) }
  const begin = () => serve({ 'upstream-v2': upstream.url, ...v1, ...LIMITS, ...limits }, start)
  let child: Child = await begin()
  let fatal: string | undefined
  const watch = (one: Child) => {
    fatal = undefined
    const told = (line: string) => {
      if (one === child) fatal = line
    }
    one.line(FATAL).then(told, (gone: Error) => told(gone.message))
  }
  watch(child)
  const autopsy = async () => {
    // Who does not listen any more is dying: its end, or its last line, says of what.
    if (fatal === undefined) await fetch(`${child.adminUrl}/healthz`).catch(() => Promise.race([child.ended, delay(VICTIM_PATIENCE)]))
    return fatal
  }
  const restart = async () => {
    await child.stop('SIGKILL')
    upstream.cut()
    child = await begin()
    watch(child)
  }
  return {
    upstream,
    /** Returns its current address, which changes with each `revive`. */
    url: () => child.url,
    /** Returns the cause of its death, as far as known: its fatal log line, or that it is gone. */
    death: () => fatal,
    autopsy,
    async revive() {
      if ((await autopsy()) !== undefined) await restart()
    },
    restart,
    /** Returns what finished requests have left behind; undefined if nothing. */
    async leftovers() {
      const late = performance.now() + VICTIM_PATIENCE
      for (;;) {
        const requests = await inFlight(child)
        const connections = upstream.endIdle()
        if (requests === 0 && connections === 0) return undefined
        if (performance.now() > late)
          return `after ${VICTIM_PATIENCE} ms: ${requests} in flight, ${connections} connections to the upstream`
        await delay(20)
      }
    },
    async stop() {
      await child.stop('SIGTERM')
      await upstream.close()
    },
  }
}

export function countIn(counts: Record<string, number>, kind: string): void {
  counts[kind] = (counts[kind] ?? 0) + 1
}

export const sizeOr = (usual: number): number => Number(process.env.CROSSWALK_CASES ?? usual)

/** The seed of `npm test`, so that its cases are always the same. */
const SAMPLE_SEED = 1

/** Printed with every run; the same seed gives the same cases. */
export const seedOr = (fallback: number): number => Number(process.env.CROSSWALK_SEED ?? fallback)

export const sampleSeed = seedOr(SAMPLE_SEED)
