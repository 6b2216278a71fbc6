import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isFull } from '../../sample.ts'
import { ANY_PORT, exit, linesUntil, start } from './started.ts'

/** How often a signal is sent at the moment at which a process is most likely to miss it. */
const TURNS = isFull ? 10 : 1

/** What a process prints when it can be used, and how it is started. */
const STAYING: readonly (readonly [name: string, argv: readonly string[], ready: RegExp])[] = [
  ['serve', ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0'], /serves v1 on/],
  [
    'serve --workers 2',
    ['serve', '--workers', '2', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0'],
    /serves v1 on/,
  ],
  ['demo', ['demo', ...ANY_PORT], /v1 proxy/],
  ['sandbox', ['sandbox', '--port', '0', '--data', 'empty'], /serves v2/],
]

it.each(STAYING)(
  'ends %s in order by a SIGTERM that follows its first line at once',
  async (_, argv, ready) => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const child = start(...argv)
      const ended = exit(child)
      await linesUntil(child, (lines) => ready.test(lines.at(-1) ?? ''))
      child.kill('SIGTERM')
      expect([turn, await ended]).toEqual([turn, 0])
    }
  },
  120_000,
)

it('prints on a terminal where it serves, before any line of the log', async () => {
  const argv = ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0', '--admin-host', '0.0.0.0']
  // `script` of util-linux gives it a terminal. `exec`, because a shell that waits ends with 130 by the same Ctrl-C.
  const command = ['exec', process.execPath, inject('cli'), ...argv].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'pipe' })
  const ended = exit(child)
  const lines = await linesUntil(child, (all) => all.length === 2)
  expect(lines).toEqual([expect.stringMatching(/^Crosswalk serves v1 on /), expect.stringMatching(/^\{"level":40,.*0\.0\.0\.0/)])
  child.stdin.write('\u0003')
  child.stdin.end()
  expect(await ended).toBe(0)
})

describe('a signal during the start', () => {
  let folder: string
  let tables: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'crosswalk-start-'))
    tables = join(folder, 'tables.mjs')
    // A start that says that it has begun, and waits until it may go on.
    const wait =
      "process.stdout.write('starting\\n'); await new Promise((resolve) => process.stdin.once('data', resolve)); process.stdin.pause()"
    const own = pathToFileURL(resolve(inject('cli'), '../../mappings/index.js'))
    writeFileSync(tables, `${wait}\nexport { tables } from '${own}'\n`)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const starting = async () => {
    const argv = [inject('cli'), 'serve', '--tables', tables, '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0']
    const child = spawn(process.execPath, argv, { stdio: 'pipe' })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('starting')
    return { child, lines, ended: exit(child) }
  }

  it.each(Array.from({ length: TURNS }, (_, turn) => turn))('does not end it: SIGHUP is heeded once it serves (%i)', async () => {
    const { child, lines, ended } = await starting()
    child.kill('SIGHUP')
    child.stdin.write('go')
    expect((await lines.next()).value).toContain('serves v1 on')
    for await (const said of createInterface({ input: child.stderr })) if (said.includes('SIGHUP came')) break
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('ends it in order once it has started: SIGTERM', async () => {
    const { child, ended } = await starting()
    child.kill('SIGTERM')
    child.stdin.write('go')
    expect(await ended).toBe(0)
  })
})
