import type { Mode } from '../choose/mode.ts'
import type { Observer } from '../observe/observer.ts'
import type { Accepted } from './accepted.ts'
import type { Backend } from './backend.ts'
import type { Deletions } from './deletions.ts'
import type { OwnWrites } from './own-writes.ts'
import { tee } from './tee.ts'

/** Who counts, and what tells a race from a difference. */
export interface Witnesses {
  readonly accepted: Accepted
  readonly ownWrites: OwnWrites
  readonly deletions: Deletions
}

/**
 * Serves from one side and shows the observer a copy of what the client got, once the client has it. Nothing in here waits for the other
 * side, and nothing that happens there can reach the client (design §7). What strangers ask is not compared: it would prove nothing.
 */
export function diff(serve: Backend, mode: Mode, observer: Observer, { accepted, ownWrites, deletions }: Witnesses): Backend {
  return async (request) => {
    const wrote = ownWrites.watch(request.caller)
    const mayBeGone = deletions.watch()
    const began = performance.now()
    const served = await serve(request)
    const answer = tee(served.answer, observer.limit, (kept) => {
      if (!kept) observer.skipped.gone += 1
      else if (!accepted.has(request.credential)) observer.skipped.stranger += 1
      else observer.look({ request, mode, served, kept, ms: Math.round(performance.now() - began), wrote, mayBeGone })
    })
    return { ...served, answer }
  }
}
