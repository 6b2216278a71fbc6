import { describe, expect, it } from 'vitest'
import { abortSignalOf, Firing } from '../../src/serve/signals.ts'

describe('a signal', () => {
  it('calls each listener once, and no listener that left', () => {
    const signal = new Firing()
    const told: unknown[] = []
    const left = () => told.push('left')
    signal.addEventListener('abort', () => told.push(signal.reason))
    signal.addEventListener('abort', left)
    signal.removeEventListener('abort', left)
    signal.abort(new Error('first'))
    signal.abort(new Error('second'))
    expect([signal.aborted, told]).toEqual([true, [new Error('first')]])
  })

  it('forgets its listeners, so that firing tells none of them', () => {
    const signal = new Firing()
    const told: unknown[] = []
    signal.addEventListener('abort', () => told.push('told'))
    signal.forget()
    signal.abort(new Error('late'))
    expect([signal.aborted, told]).toEqual([true, []])
  })

  it('can become an AbortSignal, before it fires and after', () => {
    const signal = new Firing()
    const before = abortSignalOf(signal)
    expect(before.aborted).toBe(false)
    signal.abort(new Error('gone'))
    expect([before.reason, abortSignalOf(signal).reason]).toEqual([new Error('gone'), new Error('gone')])
  })

  it('stays the same if it is an AbortSignal', () => {
    const { signal } = new AbortController()
    expect(abortSignalOf(signal)).toBe(signal)
  })
})
