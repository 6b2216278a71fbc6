import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, inject, it } from 'vitest'
import { startQuietSandbox } from '../stage/stage.ts'

/** What a reader meets who follows one known request through the program: a change may only lower these bounds. */
const BOUNDS = {
  v2: { files: 24, functions: 110 },
  'diff-v1': { files: 39, functions: 229 },
  /** Beyond diff.perSecond, as most requests of a busy proxy. */
  'diff-v1 uncompared': { files: 26, functions: 110 },
  'diff-v2 uncompared': { files: 33, functions: 169 },
} as const

interface Asked {
  readonly mode: string
  readonly path: string
  readonly perSecond: number
}

const ROLES = '/iam/v1/roles?page_size=2'

const BOUNDED = Object.keys(BOUNDS).map((name): Asked => {
  const [mode = '', isUncompared] = name.split(' ')
  return { mode, path: ROLES, perSecond: isUncompared ? 0.001 : 0 }
})

/** Those that make no error. The first one has bounds, too. */
const ENDING_WELL: readonly Asked[] = [
  { mode: 'v2', path: ROLES, perSecond: 0 },
  { mode: 'v1', path: ROLES, perSecond: 0 },
  { mode: 'v2', path: '/iam/v2/roles?page_size=2', perSecond: 0 },
]

/**
 * Prints for each known GET the files of the program that run while its URL is asked once more, each with the number of its functions that
 * run. The program runs alone in its process, as it was built: one proxy after the other. The sandbox is another process, and what the admin
 * port counts is not asked for.
 */
const MEASURED = `
  import http from 'node:http'
  import { Session } from 'node:inspector/promises'
  import pino from 'pino'
  const [base, sandbox, token, all] = process.argv.slice(1)
  const { createServer } = await import(base + 'src/app/server/server.js')
  const { configWith } = await import(base + 'src/app/config/config.js')
  const { tables } = await import(base + 'mappings/index.js')
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  const agent = new http.Agent({ keepAlive: true })
  const measured = async ({ mode, path, perSecond }) => {
    const settings = { 'listen.port': 0, 'admin.port': 0, 'upstream.v2': sandbox, 'diff.perSecond': perSecond }
    const both = mode === 'v2' ? settings : { ...settings, 'upstream.v1': sandbox }
    const server = createServer(configWith(both), tables, { log: pino({ level: 'silent' }) })
    await server.listen()
    const change = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ default: mode }) }
    if (mode !== 'v2') await (await fetch(server.adminUrl + '/modes', change)).text()
    const options = { agent, headers: { authorization: 'Bearer ' + token } }
    const { url } = server
    const get = () => new Promise((resolve) => http.get(url + path, options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))))
    const ask = async () => {
      const status = await get()
      if (mode === 'diff-v1') await server.idle()
      return status
    }
    for (let warm = 0; warm < 50; warm++) await ask()
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const look = async () => {
      await session.post('Profiler.takePreciseCoverage')
      const status = await ask()
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const ran = result.flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges: [whole] }) => whole.count > 0)
          .map(({ functionName, ranges: [{ startOffset }] }) => [url, functionName, startOffset].join(' ')),
      )
      return { status, ran }
    }
    // A timer of the process may run beside some of them, and what belongs to the request runs in each.
    const looks = []
    while (looks.length < 8) looks.push(await look())
    const [{ status, ran }, ...others] = looks
    await session.post('Profiler.stopPreciseCoverage')
    await server.close()
    const always = ran.filter((one) => others.every((other) => other.ran.includes(one))).map((one) => one.split(' '))
    const own = always.filter(([url]) => url.startsWith(base + 'src/') || url.startsWith(base + 'mappings/'))
    const counts = new Map()
    for (const [url] of own) counts.set(url.slice(base.length), (counts.get(url.slice(base.length)) ?? 0) + 1)
    const failing = always
      .filter(([url]) => /abort_controller|domexception|async_local_storage|src.errors[.]js$/.test(url))
      .map(([, functionName]) => functionName)
    return { status, ran: [...counts], failing }
  }
  const found = []
  for (const one of JSON.parse(all)) found.push(await measured(one))
  process.stdout.write(JSON.stringify(found))
  process.exit()
`

interface Measured {
  readonly status: number
  /** The files that ran, each with the number of its functions that did. */
  readonly ran: readonly (readonly [file: string, functions: number])[]
  /** The functions that ran of what makes errors, signals and stores of asynchronous calls. */
  readonly failing: readonly string[]
}

/** Of the GETs with bounds, and then of the others that end well. */
let measured: readonly Measured[]

beforeAll(async () => {
  const sandbox = await startQuietSandbox({ port: 0 })
  const base = `${pathToFileURL(resolve(inject('cli'), '../..')).href}/`
  const asked = JSON.stringify([...BOUNDED, ...ENDING_WELL.slice(1)])
  const argv = ['--input-type=module', '-e', MEASURED, base, sandbox.url, sandbox.tokens.owner, asked]
  const { stdout } = await promisify(execFile)(process.execPath, argv)
  await sandbox.close()
  measured = JSON.parse(stdout)
})

it.each(Object.entries(BOUNDS).map(([name, bounds], nth) => [name, bounds, nth] as const))(
  'lets a known GET in mode %s enter few files and functions',
  (name, bounds, nth) => {
    const { status, ran } = measured[nth]!
    expect(status).toBe(200)
    const functions = ran.reduce((sum, [, count]) => sum + count, 0)
    console.log(`a known GET in mode ${name} enters ${ran.length} files and ${functions} functions`)
    expect(ran.length, ran.map(([file]) => file).join(' ')).toBeLessThanOrEqual(bounds.files)
    expect(functions, ran.map(([file, count]) => `${file} ${count}`).join(', ')).toBeLessThanOrEqual(bounds.functions)
  },
)

it.each(ENDING_WELL.map(({ mode, path }, nth) => [mode, path, nth] as const))(
  'makes no error and no AbortController in mode %s for GET %s, which ends well',
  (_, __, nth) => {
    const { status, failing } = measured[nth === 0 ? 0 : BOUNDED.length + nth - 1]!
    expect(status).toBe(200)
    expect(failing).toEqual([])
  },
)
