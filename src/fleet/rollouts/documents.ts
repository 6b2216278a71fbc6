import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Rollouts } from '../../migrate/rollout/rollouts.ts'
import { type Proposal, type RolloutRun, readSavedRun, type SavedRun } from '../../migrate/rollout/run.ts'
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

/** The documents of the rollouts of the rules in force, as this replica knows them. */
export class RolloutDocuments {
  readonly #rollouts: Pick<Rollouts, 'runs'>
  /** The version of the modes in force here. */
  readonly #modesVersion: () => number
  readonly #all = new Map<string, Held>()
  #ended: Readonly<Record<string, number>> = {}
  readonly #endedReading = reading('sums', ENDED, (versions) => {
    this.#ended = versions
  })

  constructor(rollouts: Pick<Rollouts, 'runs'>, modesVersion: () => number) {
    this.#rollouts = rollouts
    this.#modesVersion = modesVersion
  }

  readings(): readonly FleetReading[] {
    return [this.#endedReading, ...Array.from(this.#rollouts.runs().keys(), (name) => this.#of(name).reading)]
  }

  changes(): readonly StoreChange[] {
    const runs = this.#rollouts.runs()
    const gone = [...this.#all.keys()].filter((name) => !runs.has(name))
    for (const name of gone) this.#all.delete(name)
    for (const [name, run] of runs) if (this.#of(name).run !== run) this.#follow(name)
    const lost = [...this.#all].flatMap(([name, { document, isLost }]): readonly StoreChange[] =>
      isLost && document ? [{ kind: 'raise', name: rolloutName(name), ...document }] : [],
    )
    const ended = Object.fromEntries(gone.map((name) => [name, this.#modesVersion()]))
    return gone.length === 0 ? lost : [...lost, { kind: 'most', name: ENDED, sums: ended }]
  }

  /** Takes over what the store has, and lets the rollout follow it. */
  take(name: string, document: Document): void {
    const held = this.#of(name)
    const { version, text } = held.document ?? { version: -1, text: '' }
    held.isLost = document.version < version
    if (held.isLost || (document.version === version && document.text === text)) return
    held.document = document
    this.#follow(name)
  }

  /** The document that the store has: version 0 if there is none, undefined if the store has not told yet. */
  held(name: string): Document | undefined {
    return this.#of(name).document
  }

  /** What the rollout follows; undefined if the store has nothing for it. */
  followed(name: string): RolloutDocument | undefined {
    const { run, followed } = this.#of(name)
    return run === this.#rollouts.runs().get(name) ? followed : undefined
  }

  /** True if the rollout may begin anew: what the store has belongs to earlier rules. */
  mayBegin(name: string): boolean {
    const found = readRollout(this.held(name)?.text ?? '')
    return !found || this.#isOver(name, found) || found.modes < this.#modesVersion()
  }

  /** Remembers a move whose fate is unknown, because the store did not answer. */
  unsure(name: string, move: string, proposal: Proposal): void {
    this.#of(name).unsure = { move, proposal }
  }

  /** Hands over again what the store has lost. */
  lost(): void {
    for (const held of this.#all.values()) held.isLost = (held.document?.version ?? 0) > 0
  }

  #of(name: string): Held {
    const known = this.#all.get(name)
    if (known) return known
    const read = reading('document', rolloutName(name), (document) => this.take(name, document))
    const held: Held = { document: undefined, reading: read, run: undefined, followed: undefined, unsure: undefined, isLost: false }
    this.#all.set(name, held)
    return held
  }

  #isOver(name: string, { modes }: RolloutDocument): boolean {
    return modes < (this.#ended[name] ?? 0)
  }

  /** Lets the rollout follow its document. */
  #follow(name: string): void {
    const held = this.#of(name)
    const run = this.#rollouts.runs().get(name)
    if (held.run !== run) held.followed = undefined
    held.run = run
    const found = readRollout(held.document?.text ?? '')
    if (!run || !found || found.digest !== run.plan.digest || this.#isOver(name, found)) return
    const { followed, unsure } = held
    held.followed = found
    held.unsure = undefined
    if (unsure?.move === found.move) run.accept(unsure.proposal)
    else run.follow(found.saved, followed?.life !== found.life)
  }
}

/** `moved on`: somebody else has written, and the rollout follows that now. `down`: the store does not answer. */
export type Published = 'done' | 'moved on' | 'down'

export function newName(): string {
  return randomBytes(6).toString('hex')
}

/** Writes where a rollout stands, if nobody has written meanwhile. `within` bounds what waits for the store. */
export function createRolloutPublisher(
  store: Pick<Store, 'replace'>,
  documents: RolloutDocuments,
  modesVersion: () => number,
  within: <T>(answer: Promise<T>) => Promise<T | 'down'>,
) {
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
    /** Begins a rollout that the store does not know. */
    begin: (run: RolloutRun, life: string) =>
      write(run, { digest: run.plan.digest, life, modes: modesVersion(), move: newName(), saved: run.saved() }),
    /** Puts a move in force. */
    move(run: RolloutRun, proposal: Proposal) {
      const move = newName()
      documents.unsure(run.plan.name, move, proposal)
      return rewrite(run, { saved: proposal.saved, move })
    },
    /** Writes how much time has passed, if any has. */
    async progress(run: RolloutRun): Promise<Published> {
      const saved = run.saved()
      const isSame = JSON.stringify(documents.followed(run.plan.name)?.saved) === JSON.stringify(saved)
      return isSame ? 'done' : rewrite(run, { saved })
    },
  }
}
