import { createReadShapes } from '../../diff/evidence/request-shape.ts'
import { isRead, type Side } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import { everyNth } from '../every-nth.ts'
import type { Journal } from '../journal.ts'
import type { Ask } from './ask.ts'
import { createCursors } from './cursors.ts'
import { type LookMeans, type LookSettings, lookAtRead, lookAtWrite, subjectOf } from './look.ts'
import type { Queue } from './queue.ts'
import { createSampler, type SamplerSettings } from './sampler.ts'
import { nothingSkipped, type Skipped } from './skipped.ts'
import type { WatchedRequest } from './watched.ts'

export type ObserverSettings = LookSettings & Pick<SamplerSettings, 'now' | 'random'>

/** Compares served requests when there is time. No client waits for it. */
export interface Observer {
  readonly limit: number
  /** Why nothing of an operation that this side answers can be compared now; undefined if something can. Most requests of a busy proxy end here. */
  full(operation: Operation, by: Side): 'perSecond' | 'waiting' | undefined
  look(watched: WatchedRequest): void
  /** Counts a request that cannot be compared. */
  skip(operation: Operation, why: keyof Skipped): void
  readonly skipped: Skipped
}

export function createObserver(settings: ObserverSettings, queue: Queue, journal: Journal): Observer {
  const skipped = nothingSkipped()
  const { live, now, random } = settings
  const sampler = createSampler({ perSecond: () => live.perSecond, now, random }, queue.places)
  const shapes = createReadShapes()
  const skip: Observer['skip'] = ({ id }, why) => {
    skipped[why] += 1
    if (why !== 'stranger') journal.tallies.uncompared(id, why)
  }
  const shared = { journal, cursors: createCursors(), skip, learning: everyNth(() => live.learnEvery) }
  const meansOf = (user: string): LookMeans => {
    const ask: Ask = async (side, asking, signal) => {
      const answer = await settings.ask(side, asking, signal)
      sampler.charge(user, answer.bytes ?? 0)
      return answer
    }
    return { settings: { ...settings, ask }, ...shared }
  }
  const shapeIn = ({ request: { operation, read, raw } }: WatchedRequest) => {
    try {
      return shapes(operation, read, raw)
    } catch {
      return undefined
    }
  }
  const users = new Map<Operation, Readonly<Record<Side, string>>>()
  const userOf = (operation: Operation, by: Side) => {
    const known = users.get(operation) ?? { v1: `${operation.id} v1`, v2: `${operation.id} v2` }
    users.set(operation, known)
    return known[by]
  }
  return {
    limit: settings.limit,
    skip,
    skipped,
    full: (operation, by) => (queue.refuses(0) ? 'waiting' : sampler.full(userOf(operation, by))),
    look(watched) {
      const { operation, caller } = watched.request
      const user = userOf(operation, watched.served.by)
      const size = sizeOf(watched)
      if (queue.refuses(size)) return skip(operation, 'waiting')
      if (!isRead(operation)) {
        const chosen = sampler.choose({ user, caller })
        return typeof chosen === 'string'
          ? skip(operation, chosen)
          : queue.offer((signal) => lookAtWrite(watched, meansOf(user), signal), size, user)
      }
      const shape = shapeIn(watched)
      if (shape === undefined) return skip(operation, 'malformed')
      const chosen = sampler.choose({ user, caller, shape: () => shape })
      if (typeof chosen === 'string') return skip(operation, chosen)
      const subject = subjectOf(watched)
      if (!subject) return skip(operation, 'malformed')
      sampler.charge(user, size)
      queue.offer((signal) => lookAtRead(watched, { ...subject, ...chosen, shape }, meansOf(user), signal), size, user)
    },
  }
}

function sizeOf({ kept, request }: WatchedRequest): number {
  return kept.size + (request.raw.body?.length ?? 0)
}
