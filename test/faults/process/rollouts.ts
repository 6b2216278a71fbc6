import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import type { Fault } from '../fault.ts'
import { type Behaviour, inWorld } from '../world.ts'
import { DAY, withClock } from './clock.ts'
import { crowd, hanging, placeOf, QUICK_STEPS, rolling, sendUntil, sides, twoLooks } from './crowd.ts'
import { rolloutRestartFaults } from './rollout-restarts.ts'

const HOUR_STEPS = [
  { percent: 50, hold: '1h' },
  { percent: 100, hold: '1h' },
]

function clockJumps(): Promise<string> {
  return withClock((jump) =>
    inWorld(sides({}), { modes: rolling(HOUR_STEPS) }, async ({ proxy }) => {
      const seen = [await twoLooks(proxy)]
      for (const ms of [DAY, -2 * DAY, DAY]) {
        jump(ms)
        seen.push(await twoLooks(proxy))
      }
      const places = [...new Set(seen.map(placeOf))]
      const longest = Math.max(...seen.map(({ heldMs }) => heldMs))
      return `${places.join('; ')}; ${longest < 60_000 ? 'less than a minute' : `${longest} ms`} of its hour has passed`
    }),
  )
}

const ALL = [{ percent: 100, observations: 5 }]

function v2Hangs(): Promise<string> {
  const settings = { modes: rolling(QUICK_STEPS), 'limits.callTimeoutMs': 100, 'fallback.perMinute': 1000 }
  return inWorld(sides({ v2: hanging }), settings, async ({ proxy }) => {
    const status = await sendUntil(proxy, ({ phase }) => phase !== 'running')
    return `${placeOf(status)}; clients get ${await crowd(proxy)}`
  })
}

function v1Hangs(): Promise<string> {
  const settings = { modes: rolling(ALL), 'diff.deadlineMs': 50 }
  return inWorld(sides({ v1: hanging }), settings, async ({ proxy }) => {
    const clients = await crowd(proxy)
    const status = await twoLooks(proxy)
    return `clients get ${clients}; ${observedIn(status)}`
  })
}

/** v1 answers none of the comparisons until there is room again. */
async function queueFull(): Promise<string> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const late: Behaviour = (request, response, body) => void held.then(() => sides({})(request, response, body))
  const settings = { modes: rolling(ALL), 'diff.waiting': 1, 'diff.parallel': 1 }
  return inWorld(sides({ v1: late }), settings, async ({ proxy }) => {
    const clients = await crowd(proxy)
    const full = await twoLooks(proxy)
    release()
    // Of many at once, the same two would always find room.
    const after = await sendUntil(proxy, ({ phase }) => phase !== 'running', 1)
    return `clients get ${clients}; ${observedIn(full)}; with room again ${placeOf(after)}`
  })
}

const observedIn = (status: RolloutStatus) => `${placeOf(status)}, ${status.observed} of ${status.wanted} observations`

export const rolloutFaults: readonly Fault[] = [
  ...rolloutRestartFaults,
  {
    name: 'a clock that jumps by a day, forward and back, during a rollout',
    expected: 'running, step 1 of 2, 50 %; less than a minute of its hour has passed',
    full: true,
    see: clockJumps,
  },
  {
    name: 'v2 hangs during a rollout',
    expected: 'turned-back, step 1 of 2, 0 %; clients get 200',
    full: true,
    see: v2Hangs,
  },
  {
    name: 'v1 hangs during a rollout',
    expected: 'clients get 200; running, step 1 of 1, 100 %, 0 of 5 observations',
    full: true,
    see: v1Hangs,
  },
  {
    name: 'the waiting comparisons are full during a rollout',
    expected: 'clients get 200; running, step 1 of 1, 100 %, 0 of 5 observations; with room again watching, step 1 of 1, 100 %',
    full: true,
    see: queueFull,
  },
]
