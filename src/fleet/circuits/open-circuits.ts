import { z } from 'zod'
import type { Circuit, Opening } from '../../migrate/evidence/circuit.ts'
import type { StoreChange } from '../../store/store-change.ts'
import type { Fleet } from '../fleet.ts'
import { type Part, reading } from '../part.ts'
import { readText } from '../read-text.ts'

/** Shares which circuits are open. */
export interface OpenCircuits extends Part {
  /** Is told that observations opened or closed a circuit here. Calls `note` unless another replica was the first. */
  turned(operation: string, note: () => void): Promise<void>
}

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

const turnSchema = z.object({ at: z.number(), reason: z.string(), replica: z.string() })

/** One opening or closing: the odd ones of a circuit open it, the even ones close it. */
interface Turn extends z.infer<typeof turnSchema> {
  readonly nth: number
}

type Turns = ReadonlyMap<string, Turn>

/**
 * The turns of all circuits are marks in the store, `operation 1` and so on, and the first mark of a turn stays. The set only grows, so that
 * no opening gets lost and two replicas that open a circuit at once open it once. Each version of the modes begins a new set.
 */
export function createOpenCircuits({ circuit, version, fleet, moved, now }: OpenCircuitsParts): OpenCircuits {
  let current = version()
  const turns = new Map<string, Turn>()
  /** Those of the version before. */
  let earlier: Turns = new Map()
  let isLost = false
  const take = (texts: Readonly<Record<string, string>>) => {
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
    changes() {
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
    readings() {
      follow()
      return [marks]
    },
    async turned(operation, note) {
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
function obey(circuit: OpenCircuitsParts['circuit'], operation: string, { nth, at, reason, replica }: Turn, isNew: boolean): boolean {
  const wasOpen = circuit.isOpen(operation)
  // What has happened here since is told with the next batch.
  if (!isNew && wasOpen !== isOpening(nth)) return false
  if (isOpening(nth)) circuit.reopen(operation, `${reason} (opened by ${replica})`, at)
  else if (wasOpen) circuit.close((one) => one === operation)
  return wasOpen !== isOpening(nth)
}
