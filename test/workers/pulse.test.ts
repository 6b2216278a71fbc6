import { expect, it } from 'vitest'
import { UNANSWERED, watchPulse } from '../../src/app/server/workers.ts'
import { manualClocks } from '../stage/manual-clocks.ts'

const SECOND = 1000

/** A worker that answers pings, or does not. */
function stage() {
  const clocks = manualClocks()
  const said: string[] = []
  const state = { answers: true, pings: 0, kills: 0 }
  let listen = () => {}
  let die = (_: string) => {}
  const listens = new Promise<void>((resolve) => {
    listen = resolve
  })
  const ended = new Promise<string>((resolve) => {
    die = resolve
  })
  const kill = () => {
    state.kills += 1
  }
  const ping = () => {
    state.pings += 1
    return state.answers ? Promise.resolve() : new Promise(() => {})
  }
  watchPulse({ place: 2, listens, ended, kill }, { ping, repeat: clocks.repeat, warn: (text) => void said.push(text) })
  return { clocks, said, state, listen, die: () => die('exit code 0') }
}

it('leaves a worker alone that answers', async () => {
  const { clocks, said, state, listen } = stage()
  listen()
  await clocks.pass(60 * SECOND)
  expect([state.kills, said]).toEqual([0, []])
})

it('kills a worker once that answers no ping in a row of ten, and says so', async () => {
  const { clocks, said, state, listen } = stage()
  listen()
  await clocks.pass(5 * SECOND)
  state.answers = false
  await clocks.pass(UNANSWERED * SECOND)
  expect(state.kills).toBe(0)
  await clocks.pass(10 * SECOND)
  expect(state.kills).toBe(1)
  expect(said).toEqual(['worker 2 has answered no ping for 10 seconds: its event loop stands, so it is killed'])
})

it('forgives a worker that answers again in time', async () => {
  const { clocks, state, listen } = stage()
  listen()
  for (let times = 0; times < 5; times += 1) {
    state.answers = false
    await clocks.pass((UNANSWERED - 2) * SECOND)
    state.answers = true
    await clocks.pass(2 * SECOND)
  }
  expect(state.kills).toBe(0)
})

it('asks nothing before the worker listens, and nothing after its end', async () => {
  const { clocks, state, listen, die } = stage()
  state.answers = false
  await clocks.pass(60 * SECOND)
  expect([state.pings, state.kills]).toEqual([0, 0])
  listen()
  await clocks.pass(3 * SECOND)
  die()
  await clocks.pass(60 * SECOND)
  expect([state.pings, state.kills]).toEqual([3, 0])
})
