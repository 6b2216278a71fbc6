import { describe, expect, it } from 'vitest'
import type { Journal } from '../../../src/migrate/modes/journal.ts'
import type { Queue, WatchedRequest } from '../../../src/migrate/observe/observe.ts'
import { createObserver, type ObserverSettings } from '../../../src/migrate/observe/observer.ts'
import { operationOf } from '../../diff/given.ts'
import { seeded } from '../../stage/seeded.ts'

const operation = operationOf('iam.roles.list')
const request = { params: {}, query: new Map(), body: undefined }

type Counts = readonly (readonly [operation: string, count: number])[]

/** An observer that counts the requests it takes by the side that answered, and compares none. */
function observer(perSecond: number, known: Counts = [], traffic: Counts = []) {
  const clock = { now: 0 }
  const taken = { v1: 0, v2: 0 }
  let answeredBy: 'v1' | 'v2' = 'v1'
  const offer: Queue['offer'] = () => {
    taken[answeredBy] += 1
  }
  const places = { most: 1_000, left: () => 1_000, usedBy: () => 0 }
  const queue = { places, offer, refuses: () => false } as unknown as Queue
  const counts = {
    evidence: { observed: new Map([...known].map(([operation, n]) => [operation, { n }])) },
    inventory: { traffic: () => new Map(traffic) },
  }
  const journal = { tallies: { uncompared: () => {} }, ...counts } as unknown as Journal
  const live = { perSecond, learnEvery: 0, verifyWrites: false }
  const settings = { live, now: () => clock.now, random: seeded(1), limit: 1_000 } as unknown as ObserverSettings
  const observing = createObserver(settings, queue, journal)
  const look = (caller: string, by: 'v1' | 'v2') => {
    answeredBy = by
    if (observing.full(operation, by)) return
    const asked = { operation, caller, raw: { url: '/iam/v1/roles' }, read: () => request }
    observing.look({ request: asked, mode: `diff-${by}`, served: { by }, kept: { size: 1 } } as unknown as WatchedRequest)
  }
  return { clock, taken, look }
}

describe('a canary of 1 % on a busy operation', () => {
  it('is compared in full, although the others take all comparisons of the rate', () => {
    const { clock, taken, look } = observer(100)
    for (let nth = 0; nth < 20_000; nth++) {
      clock.now = nth / 2
      look(`caller-${nth}`, nth % 100 === 0 ? 'v2' : 'v1')
    }
    expect(taken.v2).toBe(200)
    expect(taken.v1).toBeLessThanOrEqual(1_100 - taken.v2)
    expect(taken.v1).toBeGreaterThan(700)
  })

  it('is compared in full, too, if much more is known of its operation than of others', () => {
    const { clock, taken, look } = observer(
      20,
      [
        [operation.id, 5_000],
        ['iam.groups.list', 100],
      ],
      [
        [operation.id, 6_000],
        ['iam.groups.list', 9_000],
      ],
    )
    for (let nth = 0; nth < 20_000; nth++) {
      clock.now = nth
      look(`caller-${nth}`, nth % 200 === 199 ? 'v2' : 'v1')
    }
    expect(taken.v2).toBe(100)
  })
})
