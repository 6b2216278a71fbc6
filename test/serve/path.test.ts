import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it, onTestFinished } from 'vitest'
import { startQuietSandbox } from '../stage/sandbox.ts'

/** What a reader meets who follows one known request through the program: a change may only lower these bounds. */
const BOUNDS = {
  v2: { files: 40, functions: 230 },
  'diff-v1': { files: 60, functions: 440 },
} as const

/**
 * Prints the files of the program that run while a known URL is asked once more, each with the number of its functions that run. The
 * program runs alone in its process, as it was built. The sandbox is another process, and what the admin port counts is not asked for.
 */
const MEASURED = `
  import { Session } from 'node:inspector/promises'
  import pino from 'pino'
  const [base, mode, sandbox, token] = process.argv.slice(1)
  const { createServer } = await import(base + 'src/app/server/server.js')
  const { configWith } = await import(base + 'src/app/config/config.js')
  const { tables } = await import(base + 'mappings/index.js')
  const settings = { 'listen.port': 0, 'admin.port': 0, 'upstream.v2': sandbox, 'diff.perSecond': 0 }
  const both = mode === 'v2' ? settings : { ...settings, 'upstream.v1': sandbox }
  const server = createServer(configWith(both), tables, { log: pino({ level: 'silent' }) })
  await server.listen()
  const change = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ default: mode }) }
  if (mode !== 'v2') await (await fetch(server.adminUrl + '/modes', change)).text()
  const ask = async () => {
    const answer = await fetch(server.url + '/iam/v1/roles?page_size=2', { headers: { authorization: 'Bearer ' + token } })
    await answer.text()
    if (mode !== 'v2') await server.idle()
    return answer.status
  }
  for (let warm = 0; warm < 50; warm++) await ask()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  const status = await ask()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result
    .filter(({ url }) => url.startsWith(base + 'src/') || url.startsWith(base + 'mappings/'))
    .map(({ url, functions }) => [url.slice(base.length), functions.filter(({ ranges: [whole] }) => whole.count > 0).length])
    .filter(([, count]) => count > 0)
  process.stdout.write(JSON.stringify({ status, ran }))
  process.exit()
`

it.each(Object.entries(BOUNDS))('lets a known GET in mode %s enter few files and functions', async (mode, bounds) => {
  const sandbox = await startQuietSandbox({ port: 0 })
  onTestFinished(sandbox.close)
  const base = pathToFileURL(resolve(inject('cli'), '../../')).href
  const argv = ['--input-type=module', '-e', MEASURED, base.endsWith('/') ? base : `${base}/`, mode, sandbox.url, sandbox.tokens.owner]
  const { stdout } = await promisify(execFile)(process.execPath, argv)
  const { status, ran }: { status: number; ran: readonly (readonly [file: string, functions: number])[] } = JSON.parse(stdout)
  expect(status).toBe(200)
  const functions = ran.reduce((sum, [, count]) => sum + count, 0)
  console.log(`a known GET in mode ${mode} enters ${ran.length} files and ${functions} functions`)
  expect(ran.length, ran.map(([file]) => file).join(' ')).toBeLessThanOrEqual(bounds.files)
  expect(functions, ran.map(([file, count]) => `${file} ${count}`).join(', ')).toBeLessThanOrEqual(bounds.functions)
})
