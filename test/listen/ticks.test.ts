import { expect, it } from 'vitest'
import { keepTickShape, keptTicks } from '../../src/serve/listen/times.ts'

it('keeps one object of a next tick, however often it is called', async () => {
  keepTickShape()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  keepTickShape()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(keptTicks).toHaveLength(1)
  const [kept = {}] = keptTicks
  // The computed names of that literal, by which Node identifies a tick.
  expect(Object.getOwnPropertySymbols(kept).map(String)).toEqual(
    expect.arrayContaining(['Symbol(async_id_symbol)', 'Symbol(trigger_async_id_symbol)']),
  )
  expect(Object.keys(kept)).toContain('callback')
})
