import { execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../stage/free-port.ts'
import { until } from '../../stage/until.ts'
import { hasCurl, paste, runCommand } from '../support.ts'
import { ANY_PORT, exit, linesUntil, start } from './started.ts'

const curls = (lines: readonly string[]) => lines.filter((line) => line.startsWith('curl '))

describe('crosswalk demo', () => {
  it.runIf(hasCurl())(
    'prints addresses, a token, the organization and five lines that answer with real data; SIGTERM ends it',
    async () => {
      const child = start('demo', ...ANY_PORT)
      const ended = exit(child)
      const lines = await linesUntil(child, (all) => curls(all).length === 5)
      const text = lines.join('\n')
      expect(text).toMatch(/v1 proxy +http:\/\/127\.0\.0\.1:\d+/)
      expect(text).toMatch(/sandbox v2 +http:\/\/127\.0\.0\.1:\d+/)
      expect(text).toMatch(/admin +http:\/\/127\.0\.0\.1:\d+/)
      expect(text).toMatch(/token +demo-owner/)
      expect(text).toMatch(/organization +[0-9a-f]{40}/)
      for (const line of curls(lines)) {
        const answer = JSON.parse(await paste(line))
        expect(answer.items ?? [answer.id]).not.toEqual([])
        expect(answer).not.toHaveProperty('code')
      }
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    },
  )
})

it('prints the banner of a demo before the first line of its log', async () => {
  const both = join(mkdtempSync(join(tmpdir(), 'crosswalk-banner-')), 'both.txt')
  const file = openSync(both, 'w')
  const child = spawn(process.execPath, [inject('cli'), 'demo', ...ANY_PORT], { stdio: ['ignore', file, file] })
  const ended = exit(child)
  await until(async () => readFileSync(both, 'utf8').includes('made through v1'))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(readFileSync(both, 'utf8').trimStart()).toMatch(/^v1 proxy/)
})

it('runs crosswalk serve until SIGTERM', async () => {
  const child = start('serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0')
  const ended = exit(child)
  const [line = ''] = await linesUntil(child, () => true)
  const [, url = ''] = /serves v1 on (\S+) from v2 at http:\/\/127\.0\.0\.1:1;/.exec(line) ?? []
  expect((await fetch(`${url}/iam/v1/groups`)).status).toBe(503)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('reads its settings again at SIGHUP and goes on', async () => {
  const child = start('serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0')
  const ended = exit(child)
  const [line = ''] = await linesUntil(child, () => true)
  const [, admin = ''] = /admin on (\S+)\.$/.exec(line) ?? []
  child.kill('SIGHUP')
  for await (const said of createInterface({ input: child.stderr as NodeJS.ReadableStream })) if (said.includes('SIGHUP came')) break
  expect((await fetch(`${admin}/healthz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('runs crosswalk sandbox until SIGTERM', async () => {
  const child = start('sandbox', '--port', '0', '--data', 'empty')
  const ended = exit(child)
  const [line = ''] = await linesUntil(child, () => true)
  const [, url = ''] = /on (\S+)\.$/.exec(line) ?? []
  expect((await fetch(`${url}/ping/v2/ping`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('exits with code 2 when misused', async () => {
  expect(await exit(start('serve'))).toBe(2)
})

it('knows its version in the build', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(execFileSync(process.execPath, [inject('cli'), '--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
})

describe('a start that fails', () => {
  /** A process without a listener ends by itself. If one stays, the test times out. */
  const stopped = async (...argv: string[]) => {
    const child = start(...argv)
    const said = text(child.stderr as NodeJS.ReadableStream)
    return [await exit(child), await said]
  }
  const SERVE = ['serve', '--upstream-v2', 'http://127.0.0.1:1']
  const isTaken = (port: number) => `Port ${port} of 127.0.0.1 is taken; stop what listens there or choose another port (0 = any).\n`
  let taken: net.Server
  let port: number
  beforeAll(async () => {
    taken = net.createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    port = (taken.address() as AddressInfo).port
  })
  afterAll(() => void taken.close())

  it.each([
    [SERVE, '--port', ['--admin-port']],
    [SERVE, '--admin-port', ['--port']],
    [['demo'], '--port', ['--admin-port', '--sandbox-port']],
    [['demo'], '--admin-port', ['--port', '--sandbox-port']],
    [['demo'], '--sandbox-port', ['--port', '--admin-port']],
    [['sandbox'], '--port', []],
  ])('ends %s with a taken %s in one sentence, exit code 1 and no listener left', async (command, flag, others) => {
    expect(await stopped(...command, flag, String(port), ...others.flatMap((other) => [other, '0']))).toEqual([1, isTaken(port)])
  })

  it.each([[SERVE], [['demo', '--sandbox-port', '0']]])('ends %s with one port for both as a contradiction', async (command) => {
    const both = String(await freePort())
    const says = `listen.port and admin.port are both ${both}, but a port has one listener; give each its own (0 = any).\n`
    expect(await stopped(...command, '--port', both, '--admin-port', both)).toEqual([2, says])
  })

  it.each([[SERVE], [['demo', '--sandbox-port', '0']]])('names unusable files for %s', async (command) => {
    const used = (...argv: string[]) => stopped(...command, '--port', '0', '--admin-port', '0', ...argv)
    expect(await used('--records-file', '/nowhere/records.ndjson')).toEqual([
      1,
      'records.file cannot be written: there is no such file or folder (/nowhere/records.ndjson)\n',
    ])
    expect(await used('--tls-key', '/nowhere/key.pem', '--tls-cert', 'package.json')).toEqual([
      1,
      'tls.key cannot be read: there is no such file or folder (/nowhere/key.pem)\n',
    ])
    expect(await used('--tls-key', 'test/certificates/localhost.key', '--tls-cert', 'package.json')).toEqual([
      1,
      expect.stringMatching(/^tls\.key .* are not a key and its certificate in PEM: .*\n$/),
    ])
  })
})

it('ends with the code of the command, although nobody reads what it prints', async () => {
  const child = start('cutover', '--json', '--admin', 'http://127.0.0.1:1')
  child.stdout?.destroy()
  expect(await exit(child)).toBe(3)
})

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  const full = () => openSync('/dev/full', 'w')

  it.each([
    ['standard error', ['ignore', 'full']],
    ['standard output', ['full', 'ignore']],
    ['both', ['full', 'full']],
  ] as const)('of %s keeps no proxy from serving', async (_, to) => {
    const port = await freePort()
    const argv = [inject('cli'), 'serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', String(port), '--admin-port', '0']
    const stdio: StdioOptions = ['ignore', ...to.map((one) => (one === 'full' ? full() : one))]
    const child = spawn(process.execPath, argv, { stdio })
    const ended = exit(child)
    await until(async () => (await fetch(`http://127.0.0.1:${port}/iam/v1/groups`).catch(() => undefined))?.status === 503)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('ends a command whose output it lost with 1 and a sentence', async () => {
    const child = spawn(process.execPath, [inject('cli'), 'openapi'], { stdio: ['ignore', full(), 'pipe'] })
    const said = text(child.stderr as NodeJS.ReadableStream)
    expect([await exit(child), await said]).toEqual([1, 'Standard output cannot be written: ENOSPC: no space left on device, write.\n'])
  })

  it('says that sandbox and proxy of a demo have one port', async () => {
    const { code, err } = await runCommand(['demo', '--port', '8090'])
    expect({ code, err }).toEqual({
      code: 2,
      err: 'sandbox-port and listen.port are both 8090, but a port has one listener; give each its own (0 = any).',
    })
  })
})
