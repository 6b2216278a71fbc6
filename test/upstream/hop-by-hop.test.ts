import { describe, expect, it } from 'vitest'
import { endsHere, endToEnd, endToEndRaw } from '../../src/serve/heads.ts'

describe('headers that end at a hop', () => {
  it('are the fixed ones and those that Connection names', () => {
    const ends = endsHere('close, X-Mine')
    expect(['te', 'upgrade', 'x-mine', 'x-other'].map(ends)).toEqual([true, true, true, false])
  })

  it('never include the framing of a message, whatever Connection names', () => {
    const ends = endsHere('content-length, transfer-encoding, host')
    expect([ends('content-length'), ends('host')]).toEqual([false, false])
  })

  it('are removed from a header object', () => {
    expect(endToEnd({ connection: 'x-a', 'x-a': '1', 'x-b': '2', 'keep-alive': '3' })).toEqual({ 'x-b': '2' })
  })

  it('are removed from a raw list, which keeps order, case and repetitions', () => {
    const raw = ['B', '1', 'Connection', 'close', 'A', '2', 'connection', 'X-Gone', 'b', '3', 'x-gone', '4']
    expect(endToEndRaw(raw)).toEqual(['B', '1', 'A', '2', 'b', '3'])
  })
})
