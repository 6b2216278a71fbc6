import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { run } from '../../../src/app/cli/run.ts'
import { colouredLine, isColoured, withProgress } from '../../../src/app/cli/terminal.ts'
import { runCommand, untilEscaped } from '../support.ts'

const ESCAPE = '\u001b'

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j on a terminal (%s): %s', (env, isTerminal, expected) => {
    expect(isColoured(env as Record<string, string>, isTerminal)).toBe(expected)
  })

  it('change nothing but the looks of a line', () => {
    for (const line of ['  ok   a', '  no   b', 'READY: c', 'NOT READY: d', 'e']) {
      expect(stripVTControlCharacters(colouredLine(line))).toBe(line)
    }
    expect(colouredLine('  no   b')).toContain(ESCAPE)
    expect(colouredLine('  nothing')).not.toContain(ESCAPE)
  })

  it('of the help are on a terminal alone', async () => {
    const plain = (await runCommand(['help', 'serve'])).out
    expect(plain).not.toContain(ESCAPE)
    const seen: string[] = []
    const io = { ...{ env: {}, stdin: async () => '', err: () => {}, untilEscaped, untilStopped: async () => {} }, isTerminal: true }
    await run(['help', 'serve'], { ...io, out: (line) => seen.push(line) })
    expect(seen.join('\n')).toContain(`${ESCAPE}[1mlog - The log on standard error:`)
    expect(stripVTControlCharacters(seen.join('\n'))).toBe(plain)
  })
})

describe('progress', () => {
  const screen = () => {
    const written: string[] = []
    let [at, look] = [0, () => {}]
    const pass = (ms: number) => {
      at += ms
      look()
    }
    const every = (_: number, ask: () => void) => {
      look = ask
      return () => {
        look = () => {}
      }
    }
    return { written, pass, screen: { write: (text: string) => void written.push(text), now: () => at, every } }
  }

  it('shows work of more than two seconds and clears its line', async () => {
    const { written, pass, screen: on } = screen()
    const done = await withProgress(on, 'reading a.log', async () => {
      pass(1500)
      pass(1000)
      pass(1000)
      return 'done'
    })
    const clear = `\r${ESCAPE}[2K`
    expect([done, written]).toEqual(['done', [`${clear}reading a.log, 2 s`, `${clear}reading a.log, 3 s`, clear]])
    pass(1000)
    expect(written).toHaveLength(3)
  })

  it('shows nothing for less, or without a terminal', async () => {
    const { written, pass, screen: on } = screen()
    await withProgress(on, 'x', async () => pass(1900))
    expect(await withProgress(undefined, 'x', async () => 1)).toBe(1)
    expect(written).toEqual([])
  })
})
