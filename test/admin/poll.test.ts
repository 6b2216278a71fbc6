import { describe, expect, it } from 'vitest'
import type { InForce } from '../../src/admin/report/history.ts'
import { createPoll, type LiveAnswer, type LiveLink } from '../../src/admin/web/poll.ts'
import { changesSaid } from '../../src/admin/web/words.ts'
import { reportOf } from './report-stage.ts'

/** A poll with a clock that stands still until a test moves it. Requests take `took` milliseconds. */
function polled(answers: readonly (LiveAnswer | Error)[], took = 0) {
  let [now, isVisible] = [0, true]
  const timers = new Set<{ readonly at: number; readonly call: () => void }>()
  const asked: number[] = []
  const links: LiveLink[] = []
  const given: LiveAnswer[] = []
  const poll = createPoll(
    {
      async ask(isPerson) {
        asked.push(isPerson ? -now : now)
        now += took
        const answer = answers[Math.min(asked.length, answers.length) - 1]!
        if (answer instanceof Error) throw answer
        return answer
      },
      clock: {
        now: () => now,
        later(call, ms) {
          const timer = { at: now + ms, call }
          timers.add(timer)
          return () => void timers.delete(timer)
        },
      },
      isVisible: () => isVisible,
      onAnswer: (answer) => given.push(answer),
      onLink: (link) => links.push(link),
    },
    0,
  )
  return {
    asked,
    links,
    given,
    poll,
    async until(end: number) {
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.call()
        for (let nth = 0; nth < 5; nth++) await Promise.resolve()
      }
      now = Math.max(now, end)
    },
    turn(visible: boolean) {
      isVisible = visible
      poll.turned()
    },
  }
}

const SAME: LiveAnswer = { kind: 'same', at: 77 }

describe('a page that asks again and again', () => {
  it('asks every five seconds while it is visible', async () => {
    const page = polled([SAME])
    await page.until(12_000)
    page.turn(false)
    await page.until(60_000)
    page.turn(true)
    await page.until(66_000)
    expect(page.asked).toEqual([5_000, 10_000, 60_000, 65_000])
    expect(page.links.at(-1)).toEqual({ asOf: 77 })
    page.poll.stop()
    await page.until(90_000)
    expect(page.asked).toHaveLength(4)
  })

  it('leaves a proxy that takes long in peace', async () => {
    const page = polled([SAME], 1_000)
    await page.until(60_000)
    expect(page.asked).toEqual([5_000, 26_000, 47_000])
  })

  it('waits longer after each failure, says since when, and recovers by itself', async () => {
    const down = new TypeError('Failed to fetch')
    const page = polled([down, down, down, down, down, down, new Error('it answers with HTTP 503'), SAME])
    await page.until(130_000)
    expect(page.asked).toEqual([5_000, 7_000, 11_000, 19_000, 35_000, 65_000, 95_000, 125_000, 130_000])
    expect(page.links[0]).toEqual({ asOf: 0, lost: { since: 5_000, why: 'it cannot be reached', nextAt: 7_000 } })
    expect(page.links[6]?.lost).toMatchObject({ since: 5_000, why: 'it answers with HTTP 503' })
    expect(page.links[7]).toEqual({ asOf: 77 })
  })

  it('passes on that a token is asked for', async () => {
    const page = polled([{ kind: 'token' }])
    await page.until(5_000)
    expect(page.given).toEqual([{ kind: 'token' }])
  })

  it('asks at once for a person, one request at a time', async () => {
    const page = polled([SAME], 10)
    page.poll.askNow()
    page.poll.askNow()
    page.poll.askNow()
    for (const at of [1, 2, 3]) await page.until(at)
    await new Promise(setImmediate)
    expect(page.asked).toEqual([-0, -10])
    expect(page.links).toHaveLength(1)
  })
})

it('what screen readers are told names circuits, a verdict that turned and a restart', async () => {
  const report = await reportOf([])
  const state = {
    rules: { default: 'v1' as const, rules: [], testers: [] },
    version: 1,
    tag: 'a-1',
    by: { source: 'start' as const },
    at: 0,
  }
  const now = (startedAt: number, circuits: Readonly<Record<string, string>>): InForce => {
    return { ...state, startedAt, rollouts: [], circuits, v1First: [], hasV1: true }
  }
  const before = { ...report, ready: true, now: now(1, { 'a.b.list': 'x' }) }
  const after = { ...report, ready: false, now: now(2, { 'c.d.list': 'y' }) }
  expect(changesSaid(before, after)).toEqual([
    'The proxy restarted.',
    'The circuit of c.d.list opened.',
    'The circuit of a.b.list is closed again.',
    'No longer ready to cut over.',
  ])
  expect(changesSaid(before, before)).toEqual([])
})
