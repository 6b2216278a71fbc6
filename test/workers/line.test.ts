import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { createLine, SENT } from '../../src/app/server/line.ts'

/** Two ends of one channel. Messages are copied, as between processes. */
function channel() {
  const [one, other] = [new EventEmitter(), new EventEmitter()]
  const to = (end: EventEmitter) => (message: unknown) => {
    const copy = structuredClone(message)
    setImmediate(() => end.emit('message', copy))
  }
  return [Object.assign(one, { send: to(other) }), Object.assign(other, { send: to(one) })] as const
}

it('answers questions, whatever their order', async () => {
  const [here, there] = channel()
  const [asking, answering] = [createLine(here), createLine(there)]
  const held: (() => void)[] = []
  answering.on('double', (value) => new Promise((resolve) => void held.push(() => resolve(2 * (value as number)))))
  const answers = Promise.all([asking.ask('double', 1), asking.ask('double', 2)])
  while (held.length < 2) await new Promise((resolve) => void setImmediate(resolve))
  for (const release of held.reverse()) release()
  expect(await answers).toEqual([2, 4])
})

it('passes a problem on to the side that asked', async () => {
  const [here, there] = channel()
  createLine(there).on('fail', () => {
    throw new Error('there is no such thing')
  })
  await expect(createLine(here).ask('fail')).rejects.toThrow('there is no such thing')
})

it('ignores messages of others', async () => {
  const [here, there] = channel()
  const line = createLine(here)
  createLine(there).on('name', () => 'mine')
  there.send({ cmd: 'NODE_CLUSTER' })
  there.send(undefined)
  expect(await line.ask('name')).toBe('mine')
})

it('rejects what waits, and what comes later, when the other side is gone', async () => {
  const [here, there] = channel()
  const line = createLine(here)
  createLine(there).on('never', () => new Promise(() => {}))
  const asked = line.ask('never')
  line.end()
  await expect(asked).rejects.toThrow('the other process is gone')
  await expect(line.ask('never')).rejects.toThrow('the other process is gone')
})

it.each([
  ['no hint', undefined],
  ['a hint of another form', { lines: 5, waiting: 'x' }],
  ['a very large one', { lines: Array.from({ length: 100_000 }, () => 1), waiting: 0 }],
])('tells of a hint that its listener does not take: %s', async (_, value) => {
  const [here, there] = channel()
  const wrong: string[] = []
  const line = createLine(here, (topic) => wrong.push(topic))
  line.on('records', (sent) => SENT.records.parse(sent))
  const other = createLine(there)
  other.tell('records', value)
  await expect(other.ask('records', value)).rejects.toThrow()
  expect(wrong).toEqual(['records'])
})

it.each([
  ['metrics', [{ name: 'a', values: [{ value: 1, labels: {} }] }], [{ name: 'a', values: 5 }]],
  ['failed', { message: 'a', code: 'EADDRINUSE' }, null],
  ['listens', 'http://127.0.0.1:1', { toString: 1 }],
  ['records', { lines: ['a'], waiting: 0 }, { lines: [{}], waiting: 0 }],
] as const)('takes of a worker only what %s may be', (topic, right, wrong) => {
  expect([SENT[topic].safeParse(right).success, SENT[topic].safeParse(wrong).success]).toEqual([true, false])
})
