import { isUnjudged } from '../machine/conditions.ts'
import type { RolloutView } from '../machine/rollout-view.ts'
import type { RunPlace } from '../run-place.ts'

/** What is wrong at one replica, so that the one that decides must know it. */
export interface Plight {
  /** Too many requests since the last comparison that said something, and the milliseconds since then. */
  readonly unjudged?: RolloutView['unjudged']
  /** Why its records cannot be written. */
  readonly unwritten?: string | undefined
  /** Why each circuit opened for which it took the share to 0 by itself, by operation id. */
  readonly opened?: Readonly<Record<string, string>> | undefined
}

/** Returns what is wrong; undefined if nothing is. */
export function plightOf({ unjudged, unwritten, opened }: Plight): Plight | undefined {
  const found: Plight = {
    ...(unjudged && isUnjudged(unjudged) && { unjudged }),
    ...(unwritten !== undefined && { unwritten }),
    ...(opened && { opened }),
  }
  return Object.keys(found).length > 0 ? found : undefined
}

/** Returns what the replica that decides looks at: what is wrong at one replica is wrong. `requests` came since the last look. */
export function viewOfAll(place: RunPlace, plights: readonly Plight[], requests: number): RolloutView {
  const view = place.view({ requests, unjudged: { requests: 0, ms: 0 } })
  const unjudged = plights.flatMap((one) => one.unjudged ?? []).sort((a, b) => b.requests - a.requests)[0] ?? view.unjudged
  const unwritten = view.unwritten ?? plights.find((one) => one.unwritten !== undefined)?.unwritten
  // A replica that took the share to 0 has been heard once the rollout is turned back.
  const heard = place.state().phase === 'turned-back' ? [] : plights
  return { ...view, unjudged, unwritten, open: { ...Object.assign({}, ...heard.map(({ opened }) => opened)), ...view.open } }
}
