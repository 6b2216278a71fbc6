import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld, listOf, serving } from '../world.ts'
import { program, serve } from './child.ts'
import { DAY, withClock } from './clock.ts'
import { recordFaults } from './records.ts'
import { rolloutFaults } from './rollouts.ts'
import { signalFaults } from './signals.ts'
import { webhookFaults } from './webhooks.ts'

const GROUPS = 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n'
const ask = async (url: string, lines = '') => say((await talk(url, `${GROUPS}${lines}\r\n`, 1)).answers[0])

/** Names each answer once, sorted. */
const distinct = (said: readonly string[]) => [...new Set(said)].sort().join(', ')

function clockJumps(): Promise<string> {
  let release = () => {}
  let arrived = () => {}
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve
  })
  return withClock((jump) =>
    inWorld(
      (request, response, body) => {
        release = () => serving(3)(request, response, body)
        if (request.headers.authorization === 'held') arrived()
        else release()
      },
      { 'limits.callerPerSecond': 1 },
      async ({ proxy }) => {
        const held = ask(proxy.url, 'authorization: held\r\n')
        await waiting
        jump(DAY)
        release()
        const said = [await held]
        jump(-30 * DAY)
        said.push(await ask(proxy.url, 'authorization: b\r\n'))
        jump(400 * DAY)
        const again = await ask(proxy.url, 'authorization: b\r\n')
        return `${distinct(said)}; a caller's pace is kept: ${again}`
      },
    ),
  )
}

const CONNECTIONS = 1000

/** Opens more clients than there are file descriptors, then as many as usual. */
async function withoutDescriptors(): Promise<string> {
  const upstream = await startUpstream(serving(3))
  const child = await serve({ 'upstream-v2': upstream.url, 'connect-timeout-ms': 1000, 'deadline-ms': 3000 }, { before: 'ulimit -n 300' })
  const clients = Array.from({ length: CONNECTIONS }, (_, nth) => ask(child.url, `connection: close\r\nauthorization: ${nth}\r\n`))
  const said = (await Promise.all(clients)).filter((one) => !['200, 3 rows', '503/14', 'no answer', '504/4'].includes(one))
  const after = await ask(child.url)
  const state = child.isAlive() ? 'alive' : 'dead'
  const code = await child.stop('SIGTERM')
  await upstream.close()
  return `${said.length} wrong answers, ${state}, afterwards ${after}, exit code ${code}`
}

async function brokenConfig(): Promise<string> {
  const upstream = await startUpstream(({ url = '' }, response) => {
    response.end(url.startsWith('/iam/v1') ? '{"items":[]}' : listOf(3))
  })
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-config-'))
  const path = join(directory, 'config.json')
  const config = (modes: unknown) => writeFileSync(path, JSON.stringify({ modes }))
  config({ default: 'v2' })
  const child = await serve({ 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, config: path })
  const said = [await ask(child.url)]
  writeFileSync(path, '{"modes":')
  await child.line(/stays as it was.*cannot be read/)
  said.push(await ask(child.url))
  config({ default: 'v3' })
  await child.line(/stays as it was.*must be one of v1, v2/)
  said.push(await ask(child.url))
  config({ default: 'v1' })
  await child.line(/modes are now/)
  const after = await ask(child.url)
  await child.stop('SIGTERM')
  await upstream.close()
  rmSync(directory, { recursive: true })
  return `${distinct(said)} as before and the reason told; a good one is taken: ${after}`
}

/** Throws an uncaught exception, and another one while the process ends. Requests in flight must still be answered. */
async function escapedException(): Promise<string> {
  let arrived = () => {}
  let release = () => {}
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const upstream = await startUpstream((request, response, body) => {
    release = () => serving(3)(request, response, body)
    arrived()
  })
  const nodeFlags = ['--import', program('./escape.js')]
  const child = await serve({ 'upstream-v2': upstream.url, 'log-level': 'fatal' }, { nodeFlags })
  const held = ask(child.url)
  await waiting
  child.signal('SIGUSR2')
  await child.line(/"msg":"an exception escaped/)
  child.signal('SIGUSR2')
  release()
  const said = await held
  const code = await child.ended
  await upstream.close()
  const fatal = child.lines.filter((line) => line.includes('"level":60'))
  return `under way: ${said}; ${fatal.length} fatal line, its stack told: ${fatal.every((line) => line.includes('escape.js'))}; exit code ${code}`
}

export const processFaults: readonly Fault[] = [
  ...signalFaults,
  ...recordFaults,
  ...webhookFaults,
  ...rolloutFaults,
  {
    name: 'an exception that nobody catches',
    expected: 'under way: 200, 3 rows; 1 fatal line, its stack told: true; exit code 1',
    full: true,
    see: escapedException,
  },
  {
    name: 'file descriptors exhausted',
    expected: '0 wrong answers, alive, afterwards 200, 3 rows, exit code 0',
    full: true,
    see: withoutDescriptors,
  },
  {
    name: 'a broken configuration while it runs',
    expected: '200, 3 rows as before and the reason told; a good one is taken: 200, 0 rows',
    full: true,
    see: brokenConfig,
  },
  {
    name: 'a clock that jumps',
    expected: "200, 3 rows; a caller's pace is kept: 429/8, again after 1 s",
    see: clockJumps,
  },
]
