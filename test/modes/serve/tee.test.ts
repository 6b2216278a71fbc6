import { describe, expect, it } from 'vitest'
import { tee } from '../../../src/migrate/modes/serve.ts'
import type { Kept } from '../../../src/migrate/observe/compare-read.ts'

describe('a copy of a streamed answer', () => {
  it('stays as it was when the memory of a sent piece is used again', async () => {
    const memory = Buffer.alloc(3)
    async function* pieces() {
      for (const text of ['one', 'two']) {
        memory.write(text)
        yield memory
      }
    }
    let kept: Kept | undefined
    const answer = tee({ status: 200, headers: {}, stream: pieces() }, 100, (whole) => {
      kept = whole
    })
    if ('stream' in answer) for await (const _ of answer.stream);
    expect(kept).toMatchObject({ body: { pieces: [Buffer.from('one'), Buffer.from('two')] }, size: 6 })
  })
})
