import { describe, expect, it } from 'vitest'
import { createCoalescer } from '../../src/upstream/coalesce.ts'

function gate<T>() {
  let open = (_: T) => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open: (value: T) => open(value) }
}

describe('work under way', () => {
  it('is shared by key and made anew when it is over', async () => {
    const coalescer = createCoalescer<number>()
    const first = gate<number>()
    let started = 0
    const work = () => {
      started += 1
      return { done: started === 1 ? first.promise : Promise.resolve(2), cancel: () => {} }
    }
    const { signal } = new AbortController()
    const both = Promise.all([coalescer.join('k', signal, work), coalescer.join('k', signal, work)])
    first.open(1)
    expect(await both).toEqual([1, 1])
    expect(await coalescer.join('k', signal, work)).toBe(2)
  })

  it('goes on while somebody waits, and is cancelled when nobody does', async () => {
    const coalescer = createCoalescer<number>()
    const reasons: Error[] = []
    const [one, two] = [new AbortController(), new AbortController()]
    const work = () => ({ done: gate<number>().promise, cancel: (reason: Error) => void reasons.push(reason) })
    const first = coalescer.join('k', one.signal, work)
    const second = coalescer.join('k', two.signal, work)
    one.abort(new Error('one left'))
    await expect(first).rejects.toThrow('one left')
    expect(reasons).toEqual([])
    two.abort(new Error('two left'))
    await expect(second).rejects.toThrow('two left')
    expect(reasons).toEqual([new Error('two left')])
  })

  it('is not started for somebody who has left already', async () => {
    const join = createCoalescer<number>().join('k', AbortSignal.abort(new Error('gone')), () => {
      throw new Error('started')
    })
    await expect(join).rejects.toThrow('gone')
  })
})
