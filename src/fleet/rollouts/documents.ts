import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import { type Plight, readSavedRun, type SavedRun } from '../../migrate/rollout/run.ts'
import type { Proposal, SharedRun } from '../../migrate/rollout/shared-run.ts'
import { type FleetReading, reading, readText } from '../exchange.ts'
import type { Document, Store, StoreChange } from '../store/store.ts'

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
  const read = readText(schema, text)
  const saved = readSavedRun(read?.saved)
  return read && saved && { ...read, saved }
}

export function rolloutName(name: string): string {
  return `rollout:${name}`
}

/** The documents of the rollouts of the rules in force, as this replica knows them. */
export interface RolloutDocuments {
  readings(): readonly FleetReading[]
  changes(): readonly StoreChange[]
  /** Takes over what the store has, and lets the rollout follow it. */
  take(name: string, document: Document): void
  /** The document that the store has: version 0 if there is none, undefined if the store has not told yet. */
  held(name: string): Document | undefined
  /** What the rollout follows; undefined if the store has nothing for it. */
  followed(name: string): RolloutDocument | undefined
  /** True if the rollout may begin anew: what the store has belongs to earlier rules. */
  mayBegin(name: string): boolean
  /** Remembers a move whose fate is unknown, because the store did not answer. */
  unsure(name: string, move: string, proposal: Proposal): void
  /** Hands over again what the store has lost. */
  lost(): void
}

interface DocumentsSources {
  readonly rollouts: Pick<Rollouts, 'runs'>
  /** The version of the modes in force here. */
  readonly modesVersion: () => number
}

interface Held {
  document: Document | undefined
  readonly reading: FleetReading
  run: RolloutRun | undefined
  /** What `run` follows. */
  followed: RolloutDocument | undefined
  unsure: { readonly move: string; readonly proposal: Proposal } | undefined
  isLost: boolean
}

/** The versions of the modes at which rollouts ended, by name. */
const ENDED = 'rollouts'

export function createRolloutDocuments({ rollouts, modesVersion }: DocumentsSources): RolloutDocuments {
  const all = new Map<string, Held>()
  let ended: Readonly<Record<string, number>> = {}
  const endedReading = reading('sums', ENDED, (versions) => {
    ended = versions
  })
  const heldOf = (name: string): Held => {
    const known = all.get(name)
    if (known) return known
    const read = reading('document', rolloutName(name), (document) => take(name, document))
    const held: Held = { document: undefined, reading: read, run: undefined, followed: undefined, unsure: undefined, isLost: false }
    all.set(name, held)
    return held
  }
  const isOver = (name: string, { modes }: RolloutDocument) => modes < (ended[name] ?? 0)
  /** Lets the rollout follow its document. */
  const follow = (name: string) => {
    const held = heldOf(name)
    const run = rollouts.runs().get(name)
    if (held.run !== run) held.followed = undefined
    held.run = run
    const found = readRollout(held.document?.text ?? '')
    if (!run?.shared || !found || found.digest !== run.plan.digest || isOver(name, found)) return
    const { followed, unsure } = held
    held.followed = found
    held.unsure = undefined
    if (unsure?.move === found.move) run.shared.accepted(unsure.proposal)
    else run.shared.follow(found.saved, followed?.life !== found.life)
  }
  const take = (name: string, document: Document) => {
    const held = heldOf(name)
    const { version, text } = held.document ?? { version: -1, text: '' }
    held.isLost = document.version < version
    if (held.isLost || (document.version === version && document.text === text)) return
    held.document = document
    follow(name)
  }
  return {
    readings: () => [endedReading, ...Array.from(rollouts.runs().keys(), (name) => heldOf(name).reading)],
    changes() {
      const runs = rollouts.runs()
      const gone = [...all.keys()].filter((name) => !runs.has(name))
      for (const name of gone) all.delete(name)
      for (const [name, run] of runs) if (heldOf(name).run !== run) follow(name)
      const lost = [...all].flatMap(([name, { document, isLost }]): readonly StoreChange[] =>
        isLost && document ? [{ kind: 'raise', name: rolloutName(name), ...document }] : [],
      )
      return gone.length === 0 ? lost : [...lost, { kind: 'most', name: ENDED, sums: versionsOf(gone, modesVersion()) }]
    },
    take,
    held: (name) => heldOf(name).document,
    followed: (name) => (heldOf(name).run === rollouts.runs().get(name) ? heldOf(name).followed : undefined),
    mayBegin(name) {
      const found = readRollout(heldOf(name).document?.text ?? '')
      return !found || isOver(name, found) || found.modes < modesVersion()
    },
    unsure(name, move, proposal) {
      heldOf(name).unsure = { move, proposal }
    },
    lost() {
      for (const held of all.values()) held.isLost = (held.document?.version ?? 0) > 0
    },
  }
}

function versionsOf(names: readonly string[], version: number): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name) => [name, version]))
}

/** Writes where a rollout stands, if nobody has written meanwhile. */
export interface RolloutPublisher {
  /** Begins a rollout that the store does not know. */
  begin(run: RolloutRun, life: string): Promise<Published>
  /** Puts a move in force. */
  move(run: RolloutRun, proposal: Proposal): Promise<Published>
  /** Writes how much time has passed, if any has. */
  progress(run: RolloutRun): Promise<Published>
}

/** `moved on`: somebody else has written, and the rollout follows that now. `down`: the store does not answer. */
export type Published = 'done' | 'moved on' | 'down'

interface PublisherSources {
  readonly store: Pick<Store, 'replace'>
  readonly documents: RolloutDocuments
  readonly modesVersion: () => number
  /** Bounds what waits for the store. */
  readonly within: <T>(answer: Promise<T>) => Promise<T | 'down'>
}

export function newName(): string {
  return randomBytes(6).toString('hex')
}

export function createRolloutPublisher({ store, documents, modesVersion, within }: PublisherSources): RolloutPublisher {
  const write = async ({ plan: { name } }: RolloutRun, document: RolloutDocument): Promise<Published> => {
    const { version = 0 } = documents.held(name) ?? {}
    const replaced = await within(store.replace(rolloutName(name), version, JSON.stringify(document)))
    if (replaced === 'down') return 'down'
    documents.take(name, replaced.document)
    return replaced.isReplaced ? 'done' : 'moved on'
  }
  /** Writes over what the rollout follows. */
  const rewrite = async (run: RolloutRun, more: { readonly saved: SavedRun; readonly move?: string }): Promise<Published> => {
    const followed = documents.followed(run.plan.name)
    return followed ? write(run, { ...followed, ...more }) : 'moved on'
  }
  return {
    begin: (run, life) =>
      write(run, { digest: run.plan.digest, life, modes: modesVersion(), move: newName(), saved: sharedOf(run).saved() }),
    move(run, proposal) {
      const move = newName()
      documents.unsure(run.plan.name, move, proposal)
      return rewrite(run, { saved: proposal.saved, move })
    },
    async progress(run) {
      const saved = sharedOf(run).saved()
      const isSame = JSON.stringify(documents.followed(run.plan.name)?.saved) === JSON.stringify(saved)
      return isSame ? 'done' : rewrite(run, { saved })
    },
  }
}

/** Returns how a rollout follows the fleet. Each does where there is a store. */
export function sharedOf({ shared }: RolloutRun): SharedRun {
  if (shared) return shared
  throw new Error('a rollout of a fleet is not shared')
}

/** What is wrong at each replica in one step. */
export interface Plights {
  /** Tells the others what is wrong here. */
  changes(own: Plight | undefined): readonly StoreChange[]
  readonly reading: FleetReading
  /** What is wrong at the other replicas. */
  others(): readonly Plight[]
}

/** Milliseconds between two tellings of what lasts. */
const AGAIN_MS = 5000

/** Milliseconds after which a replica that repeats nothing has died, or is well again and cut off. */
const STALE_MS = 30_000

const plightSchema = z.object({
  unjudged: z.object({ requests: z.number(), ms: z.number() }).optional(),
  unwritten: z.string().optional(),
  opened: z.record(z.string(), z.string()).optional(),
})

export function createPlights(key: string, id: string, ticks: () => number): Plights {
  const name = `${key}:plights`
  const heard = new Map<string, { readonly text: string; readonly plight: Plight; readonly at: number }>()
  let told = { text: '', at: Number.NEGATIVE_INFINITY }
  return {
    changes(own) {
      const text = own ? JSON.stringify(own) : ''
      const isSame = (text === '') === (told.text === '')
      if (text === told.text || (isSame && ticks() - told.at < AGAIN_MS)) return []
      told = { text, at: ticks() }
      return [{ kind: 'write', name, field: id, text }]
    },
    reading: reading('texts', name, (texts) => {
      for (const [replica, text] of Object.entries(texts)) {
        if (replica === id || heard.get(replica)?.text === text) continue
        heard.set(replica, { text, plight: readPlight(text), at: ticks() })
      }
    }),
    others() {
      return [...heard.values()].flatMap(({ plight, at }): readonly Plight[] => {
        if (ticks() - at < STALE_MS) return [plight]
        // That it took the share to 0 holds until the fleet did too.
        return plight.opened ? [{ opened: plight.opened }] : []
      })
    },
  }
}

function readPlight(text: string): Plight {
  return (readText(plightSchema, text) ?? {}) as Plight
}
