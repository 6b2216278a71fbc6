import { z } from 'zod'
import { readSavedRun, type SavedRun } from '../../migrate/rollout/run.ts'

/** Where a rollout stands, for all replicas: the document `rollout:NAME` of the store. */
export interface RolloutDocument {
  /** Tells the rollout from another one of the same name; see `RolloutPlan`. */
  readonly digest: string
  /** Tells this beginning of the rollout from every other. */
  readonly life: string
  /** The version of the modes at which it began. */
  readonly modes: number
  /** Tells its last move from every other. */
  readonly move: string
  readonly saved: SavedRun
}

const schema = z.object({ digest: z.string(), life: z.string(), modes: z.number(), move: z.string(), saved: z.unknown() })

/** Reads a document. Undefined if there is none, and if another version of Crosswalk wrote it in another form. */
export function readRollout(text: string): RolloutDocument | undefined {
  const read = schema.safeParse(jsonOf(text)).data
  const saved = readSavedRun(read?.saved)
  return read && saved && { ...read, saved }
}

export function rolloutName(name: string): string {
  return `rollout:${name}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
