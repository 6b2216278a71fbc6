import { describe, expect, it } from 'vitest'
import { type CallLanding, type CallLimits, createCalls } from '../../src/serve/calls.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import { type AskTurn, type Call, type Outcome, replied } from '../../src/tables/turn.ts'
import { sending } from './sends.ts'

const calls = Array.from({ length: 10 }, (_, at): Call => ({ method: 'GET', path: `/${at}`, query: [] }))
const ask = (at: number, ahead?: readonly Call[]) => ({ kind: 'ask' as const, calls: calls.slice(at, at + 1), ...(ahead && { ahead }) })

/** Makes the calls of turns and awaits their outcomes. */
function making(send: Parameters<typeof sending>[0], limits: CallLimits) {
  const make = createCalls(sending(send), limits)
  return (turn: Pick<AskTurn, 'kind' | 'calls' | 'ahead'>) =>
    new Promise<readonly Outcome[]>((told, failed) => make({ ...turn, next: () => replied({ status: 200, body: {} }) }, { told, failed }))
}

/** A v2 service that answers when the test tells it to. */
function service() {
  const begun: string[] = []
  const answers = new Map<string, (body: JsonObject) => void>()
  const send = ({ path }: Call) => {
    begun.push(path)
    return new Promise<JsonObject>((resolve) => answers.set(path, resolve))
  }
  return { begun, send, answer: (path: string) => answers.get(path)?.({ path }) }
}

describe('announced calls', () => {
  it('begin in order, up to the parallel limit, and keep their outcomes', async () => {
    const { begun, send, answer } = service()
    const make = making(send, { callsPerRequest: 100, parallelCalls: 3 })
    const first = make(ask(0, calls.slice(1)))
    await Promise.resolve()
    expect(begun).toEqual(['/0', '/1', '/2'])
    for (const path of ['/2', '/1', '/0']) answer(path)
    expect(await first).toEqual([{ ok: true, body: { path: '/0' } }])
    expect(await make(ask(1))).toEqual([{ ok: true, body: { path: '/1' } }])
    expect(await make(ask(2))).toEqual([{ ok: true, body: { path: '/2' } }])
    expect(begun).toEqual(['/0', '/1', '/2', '/3', '/4', '/5'])
  })

  it('do not begin while the plan waits', async () => {
    const begun: string[] = []
    const send = async ({ path }: Call) => {
      begun.push(path)
      return {}
    }
    const make = making(send, { callsPerRequest: 100, parallelCalls: 3 })
    await make(ask(0, calls.slice(1)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toHaveLength(4)
  })

  it('are forgotten if the plan announces others', async () => {
    const begun: string[] = []
    const send = async ({ path }: Call) => {
      begun.push(path)
      return { path }
    }
    const make = making(send, { callsPerRequest: 100, parallelCalls: 2 })
    await make(ask(0, calls.slice(1)))
    expect(await make(ask(9, []))).toEqual([{ ok: true, body: { path: '/9' } }])
    expect(await make(ask(8))).toEqual([{ ok: true, body: { path: '/8' } }])
    expect(begun).toEqual(['/0', '/1', '/2', '/9', '/8'])
  })

  it('count, and do not begin beyond the limit', async () => {
    const { begun, send, answer } = service()
    const make = making(send, { callsPerRequest: 2, parallelCalls: 8 })
    const first = make(ask(0, calls.slice(1)))
    await Promise.resolve()
    expect(begun).toEqual(['/0', '/1'])
    answer('/0')
    answer('/1')
    await first
    await make(ask(1))
    await expect(make(ask(2))).rejects.toThrow('limits.callsPerRequest (2)')
  })
})

it('refuses too many parallel calls before making any of them', async () => {
  const { begun, send } = service()
  const make = making(send, { callsPerRequest: 2, parallelCalls: 8 })
  await expect(make({ kind: 'ask', calls: calls.slice(0, 3) })).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect(begun).toEqual([])
})

describe('calls that land at once', () => {
  const many = Array.from({ length: 20_000 }, (_, at): Call => ({ method: 'GET', path: `/${at}`, query: [] }))
  const limits = { callsPerRequest: 100_000, parallelCalls: 1 }

  it('are told at once, in the order of the calls', () => {
    let told: readonly Outcome[] = []
    const make = createCalls(({ path }, landing) => landing.landed({ path }), limits)
    make(turnOf(many), { told: (outcomes) => (told = outcomes), failed: fail })
    expect(told).toEqual(many.map(({ path }) => ({ ok: true, body: { path } })))
  })

  it('do not grow the stack when they wait for one that does not', () => {
    let told: readonly Outcome[] = []
    let first: CallLanding | undefined
    const make = createCalls((call, landing) => {
      if (call === many[0]) first = landing
      else landing.landed({})
    }, limits)
    make(turnOf(many), { told: (outcomes) => (told = outcomes), failed: fail })
    expect(told).toEqual([])
    first?.landed({})
    expect(told).toHaveLength(many.length)
  })
})

function turnOf(calls: readonly Call[]): AskTurn {
  return { kind: 'ask', calls, next: () => replied({ status: 200, body: {} }) }
}

function fail(thrown: unknown): void {
  throw thrown
}
