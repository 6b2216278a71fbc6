import { z } from 'zod'
import type { Circuit, Opening, Rate } from '../migrate/evidence/circuit.ts'
import type { Sample } from '../migrate/evidence/evidence.ts'
import type { Migration } from '../migrate/migration.ts'
import type { CircuitNotes } from '../migrate/modes/journal.ts'
import type { Budget } from '../migrate/modes/serve.ts'
import { type FleetClocks, type FleetReading, liveIn, reading, readText } from './exchange.ts'
import type { Fleet } from './fleet.ts'
import type { StoreChange, Sums } from './store/store.ts'

interface OpenCircuitsParts {
  readonly circuit: Pick<Circuit, 'close' | 'isOpen' | 'openings' | 'reopen'>
  /** The version of the modes in force. */
  readonly version: () => number
  readonly fleet: Pick<Fleet, 'id' | 'urgent' | 'turn'>
  /** Is called after the store has opened or closed circuits here. */
  readonly moved: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Older versions tell no owner. */
const turnSchema = z.object({ at: z.number(), reason: z.string(), owner: z.string().optional(), replica: z.string() })

/** One opening or closing: the odd ones of a circuit open it, the even ones close it. */
interface Turn extends z.infer<typeof turnSchema> {
  readonly nth: number
}

type Turns = ReadonlyMap<string, Turn>

/**
 * Shares which circuits are open.
 * The turns of all circuits are marks in the store, `operation 1` and so on, and the first mark of a turn stays. The set only grows, so that
 * no opening gets lost and two replicas that open a circuit at once open it once. Each version of the modes begins a new set.
 */
export function createOpenCircuits({ circuit, version, fleet, moved, now }: OpenCircuitsParts) {
  let current = version()
  const turns = new Map<string, Turn>()
  /** The turns of the version of the modes before. */
  let earlier: Turns = new Map()
  let isLost = false
  const take = (texts: Readonly<Record<string, string>>) => {
    // Other modes came with the same exchange, as they do when a process begins: these are circuits of earlier ones.
    if (version() !== current) return
    isLost = [...turns].some(([operation, { nth }]) => texts[`${operation} ${nth}`] === undefined)
    const found = [...newestOf(texts)].filter(([operation, { nth }]) => nth >= (turns.get(operation)?.nth ?? 0))
    const isMoved = found.map(([operation, turn]) => obey(circuit, operation, turn, turn.nth > (turns.get(operation)?.nth ?? 0)))
    for (const [operation, turn] of found) turns.set(operation, turn)
    if (isMoved.includes(true)) moved()
  }
  let marks = reading('texts', nameOf(current), take)
  const follow = () => {
    if (version() === current) return
    current = version()
    earlier = new Map(turns)
    turns.clear()
    marks = reading('texts', nameOf(current), take)
  }
  /** Returns the next turn of a circuit that is not as its last one says. */
  const nextOf = (operation: string, opening: Opening | undefined): Turn | undefined => {
    const nth = turns.get(operation)?.nth ?? 0
    if ((opening !== undefined) === isOpening(nth)) return undefined
    if (!opening) return { nth: nth + 1, at: now(), reason: '', replica: fleet.id }
    // A rollout may have kept it open in the new modes.
    const kept = earlier.get(operation)
    return kept?.at === opening.at ? { ...kept, nth: nth + 1 } : { ...opening, nth: nth + 1, replica: fleet.id }
  }
  return {
    changes(): readonly StoreChange[] {
      follow()
      const openings = circuit.openings()
      const told = isLost ? [...turns] : []
      for (const operation of new Set([...openings.keys(), ...turns.keys()])) {
        const turn = nextOf(operation, openings.get(operation))
        if (!turn) continue
        turns.set(operation, turn)
        told.push([operation, turn])
      }
      return told.map(([operation, turn]) => markOf(nameOf(current), operation, turn))
    },
    readings(): readonly FleetReading[] {
      follow()
      return [marks]
    },
    /** Is told that observations opened or closed a circuit here. Calls `note` unless another replica was the first. */
    async turned(operation: string, note: () => void) {
      fleet.urgent()
      const isAnswered = await fleet.turn()
      const first = turns.get(operation)
      if (!isAnswered || !first || first.replica === fleet.id) note()
    },
  }
}

function nameOf(version: number): string {
  return `open:${version}`
}

function isOpening(nth: number): boolean {
  return nth % 2 === 1
}

function markOf(name: string, operation: string, { nth, ...turn }: Turn): StoreChange {
  return { kind: 'mark', name, field: `${operation} ${nth}`, text: JSON.stringify(turn) }
}

/** Returns the last turn of each circuit. */
function newestOf(texts: Readonly<Record<string, string>>): Turns {
  const newest = new Map<string, Turn>()
  for (const [field, text] of Object.entries(texts)) {
    const [operation = '', number] = field.split(' ')
    const nth = Number(number)
    const read = readText(turnSchema, text)
    if (read && nth > (newest.get(operation)?.nth ?? 0)) newest.set(operation, { ...read, nth })
  }
  return newest
}

/** Opens or closes a circuit as a turn says, and says which replica opened it. Returns true if it was not so already. */
function obey(
  circuit: OpenCircuitsParts['circuit'],
  operation: string,
  { nth, at, reason, owner, replica }: Turn,
  isNew: boolean,
): boolean {
  const wasOpen = circuit.isOpen(operation)
  // What has happened here since is told with the next batch.
  if (!isNew && wasOpen !== isOpening(nth)) return false
  if (isOpening(nth)) circuit.reopen(operation, { at, reason: `${reason} (opened by ${replica})`, owner })
  else if (wasOpen) circuit.close((one) => one === operation)
  return wasOpen !== isOpening(nth)
}

interface CountsParts {
  readonly circuit: Pick<Circuit, 'own'>
  readonly heard: CircuitNotes['heard']
  /** The version of the modes in force. */
  readonly version: () => number
  readonly fleet: Pick<Fleet, 'soon' | 'urgent'>
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

/** Milliseconds since the last bad observation of any replica in which all replicas exchange their counts at the shortest distance. */
const ALERT_MS = 10_000

/**
 * Milliseconds for which the counts of others wait when a bad observation ends a calm time. What the others saw in that time then counts
 * too. It is longer than the way of a count while all are alert: 100 ms to the store, 100 ms from it.
 */
const HELD_MS = 300

interface Held extends Sample {
  readonly operation: string
  readonly rate: Rate
}

/**
 * Lets each replica count for its circuits what the others see of v2.
 * Shares the sums of what all replicas saw in the present version of the modes. What the others saw is the sum without what this replica
 * has handed over.
 */
export function createOthersCounts({ circuit, heard, version, fleet, ticks }: CountsParts) {
  let current = version()
  const observed = createObserved(circuit)
  /** What this replica has handed over, and what it has heard of the others, by field. */
  const handed = new Map<string, number>()
  let known: ReadonlyMap<string, number> | undefined
  let alertUntil = Number.NEGATIVE_INFINITY
  let heldUntil = Number.NEGATIVE_INFINITY
  let held: readonly Held[] = []
  const isAlert = () => ticks() < alertUntil
  const alert = () => {
    if (!isAlert()) heldUntil = ticks() + HELD_MS
    alertUntil = ticks() + ALERT_MS
  }
  const release = () => {
    if (ticks() < heldUntil) return
    for (const { operation, rate, n, bad } of held) heard(operation, rate, { n, bad })
    held = []
  }
  const take = (sums: Readonly<Record<string, number>>) => {
    // Other modes came with the same exchange: these are counts of earlier ones, and a process that begins still knows nothing.
    if (version() !== current) return
    const others = new Map(Object.entries(sums).map(([field, count]) => [field, count - (handed.get(field) ?? 0)]))
    const before = known
    known = others
    // The first reading has what was seen before this process began: it opens no circuit here.
    if (!before) return
    const more = newIn(others, before)
    if (more.some(({ bad }) => bad > 0)) alert()
    held = [...held, ...more]
    release()
  }
  let sums = reading('sums', countName(current), take)
  const follow = () => {
    if (version() === current) return
    current = version()
    handed.clear()
    known &&= new Map()
    held = []
    sums = reading('sums', countName(current), take)
  }
  return {
    changes(): readonly StoreChange[] {
      follow()
      release()
      if (isAlert()) fleet.soon()
      const own = observed()
      for (const [field, count] of Object.entries(own)) handed.set(field, (handed.get(field) ?? 0) + count)
      return Object.keys(own).length > 0 ? [{ kind: 'add', name: countName(current), sums: own }] : []
    },
    readings(): readonly FleetReading[] {
      follow()
      return [sums]
    },
    /** Is told of each bad observation of this replica. */
    bad() {
      const tell = isAlert() ? fleet.soon : fleet.urgent
      alert()
      tell()
    },
  }
}

function countName(version: number): string {
  return `seen:${version}`
}

/** Returns what has been added since, by operation and rate. Of a store that came back empty there is nothing new. */
function newIn(others: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): readonly Held[] {
  const found = new Map<string, Held>()
  for (const [field, count] of others) {
    const [operation = '', rate, kind] = field.split(' ') as [string, Rate, string]
    const more = Math.max(0, count - (before.get(field) ?? 0))
    const { n, bad } = found.get(`${operation} ${rate}`) ?? { n: 0, bad: 0 }
    if (more > 0) found.set(`${operation} ${rate}`, { operation, rate, n: n + more, bad: kind === 'bad' ? bad + more : bad })
  }
  return [...found.values()]
}

/** Returns a function that tells what this replica observed since its last call, by `operation rate clean` and `operation rate bad`. */
function createObserved(circuit: Pick<Circuit, 'own'>): () => Sums {
  let before: ReturnType<Circuit['own']> = new Map()
  return () => {
    const now = circuit.own()
    const sums: Record<string, number> = {}
    for (const [operation, rates] of now) {
      for (const rate of RATES) {
        const { n, bad } = since(before.get(operation)?.[rate], rates[rate])
        if (n > bad) sums[`${operation} ${rate} clean`] = n - bad
        if (bad > 0) sums[`${operation} ${rate} bad`] = bad
      }
    }
    before = now
    return sums
  }
}

const RATES: readonly Rate[] = ['errors', 'mismatches']

/** A circuit that was closed counts from the beginning. */
function since(before: Sample | undefined, now: Sample): Sample {
  return before && before.n <= now.n ? { n: now.n - before.n, bad: now.bad - before.bad } : now
}

/** Shares the circuits of a replica with its fleet: what all see of v2, and which are open. */
export function shareCircuits({ journal, modes, rollouts }: Migration, fleet: Fleet, { now, ticks }: FleetClocks): void {
  const { circuit, circuitNotes } = journal
  const version = () => modes.state().version
  const counts = createOthersCounts({ circuit, heard: circuitNotes.heard, version, fleet, ticks })
  const open = createOpenCircuits({ circuit, version, fleet, moved: rollouts.look, now })
  const turned: typeof open.turned = (operation, note) => {
    // A rollout takes its share to 0 before the store has answered.
    rollouts.look()
    return open.turned(operation, note)
  }
  circuitNotes.follow({ turned, bad: counts.bad })
  // What the others saw may open a circuit, which then goes with the same batch.
  fleet.add(counts)
  fleet.add(open)
}

const MINUTE = 60_000

/** Milliseconds before the end of a minute in which a replica draws for the next one. */
const AHEAD_MS = 5000

/** Milliseconds without an answer of the store after which a replica takes its even part of what nobody has drawn. */
const SILENT_MS = 2000

/** Replicas that are assumed as long as their number is unknown, so that the first ones draw little. */
const UNKNOWN = 16

/** What is known of one minute. */
interface Minute {
  readonly nth: number
  readonly reading: FleetReading
  /** What this replica may take, and what nobody has drawn yet. */
  drawn: number
  rest: number
  taken: number
  byStrangers: number
}

/**
 * Keeps the fallbacks of all replicas together within the setting.
 * Each replica draws small parts of the budget of a minute, so that no request waits for the store.
 */
export function createSharedBudget(perMinute: number, fleet: Pick<Fleet, 'id' | 'replicas' | 'unread' | 'soon' | 'state' | 'time'>) {
  const now = fleet.time
  const minuteOf = (nth: number): Minute => {
    const take = (sums: Readonly<Record<string, number>>) => {
      minute.drawn = sums[fleet.id] ?? 0
      minute.rest = perMinute - Object.values(sums).reduce((sum, one) => sum + one, 0)
    }
    const minute: Minute = { nth, reading: reading('sums', budgetName(nth), take), drawn: 0, rest: perMinute, taken: 0, byStrangers: 0 }
    return minute
  }
  let minutes = [minuteOf(Math.floor(now() / MINUTE))]
  /** How many replicas live; undefined until the store has told. */
  let replicas: number | undefined
  const isSilent = () => fleet.state().silentMs > SILENT_MS
  const part = () => Math.ceil(perMinute / (4 * (replicas ?? UNKNOWN)))
  /** Returns this minute, and the next one when it is near. */
  const follow = (): readonly Minute[] => {
    const first = Math.floor(now() / MINUTE)
    const last = Math.floor((now() + AHEAD_MS) / MINUTE)
    if (minutes[0]?.nth !== first || minutes.at(-1)?.nth !== last) {
      minutes = [first, last].flatMap((nth, at) =>
        at > 0 && last === first ? [] : (minutes.find((one) => one.nth === nth) ?? minuteOf(nth)),
      )
    }
    return minutes
  }
  return {
    changes(): readonly StoreChange[] {
      // A replica whose heartbeat nobody can read serves too, and takes its part.
      const live = liveIn(fleet)
      if (live > 0 && !isSilent()) replicas = live
      const short = follow().filter(({ drawn, taken, rest }) => rest > 0 && drawn - taken < part() / 2)
      // What was taken and the store has lost is drawn again.
      const amount = ({ drawn, taken }: Minute) => Math.max(part(), taken - drawn)
      return short.map((one) => ({ kind: 'draw', name: budgetName(one.nth), amount: amount(one), most: perMinute, keepMs: 2 * MINUTE }))
    },
    readings: (): readonly FleetReading[] => follow().map((minute) => minute.reading),
    /** Takes one fallback, as `BudgetShare` says. */
    take(isStranger: boolean) {
      const [minute] = follow()
      if (!minute) return false
      const most = minute.drawn + (isSilent() ? Math.floor(minute.rest / (replicas ?? 1)) : 0)
      if (minute.rest > 0 && most - minute.taken <= part() / 2) fleet.soon()
      if (minute.taken >= most || (isStranger && minute.byStrangers >= Math.ceil(most / 2))) return false
      minute.taken += 1
      if (isStranger) minute.byStrangers += 1
      return true
    },
  }
}

/** Lets a replica take its fallbacks from the budget of its fleet. */
export function shareBudget(perMinute: number, budget: Pick<Budget, 'shareBy'>, fleet: Fleet): void {
  const shared = createSharedBudget(perMinute, fleet)
  budget.shareBy(shared)
  fleet.add(shared)
}

function budgetName(minute: number): string {
  return `fallback:${minute}`
}
