import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { Proposal } from '../../migrate/rollout/shared-run.ts'
import type { Document } from '../../store/store.ts'
import type { StoreChange } from '../../store/store-change.ts'
import { type FleetReading, reading } from '../part.ts'
import { type RolloutDocument, readRollout, rolloutName } from './rollout-document.ts'

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
