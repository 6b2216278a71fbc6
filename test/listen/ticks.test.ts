import { expect, it } from 'vitest'
import { keepTickShape, keptTicks } from '../../src/listen/ticks.ts'

it('keeps one of the objects that Node makes for a next tick, however often it is asked', async () => {
  keepTickShape()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  keepTickShape()
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(keptTicks).toHaveLength(1)
  const [kept = {}] = keptTicks
  // The names under which Node finds out which tick it is: the computed ones of that literal.
  expect(Object.getOwnPropertySymbols(kept).map(String)).toEqual(
    expect.arrayContaining(['Symbol(async_id_symbol)', 'Symbol(trigger_async_id_symbol)']),
  )
  expect(Object.keys(kept)).toContain('callback')
})
