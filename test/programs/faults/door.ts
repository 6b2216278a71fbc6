import { execFileSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLine } from '../../../src/app/server/line.ts'
import { openFile } from '../../../src/fleet/store/file.ts'
import { hostStore } from '../../../src/fleet/store/ipc.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { runCommand } from '../../app/cli/support.ts'
import { until } from '../../stage/clocks.ts'
import { listening, temporaryFolder } from '../../stage/programs.ts'
import { streamAttacks } from './attacks/streams.ts'
import { answerTo, type Fault, fault, get, inWorld, longFault, serving } from './fault.ts'
import { strangeIn } from './fuzz/drafts.ts'
import { idle, inFlight } from './process/child.ts'
import { bytesOf, dial, type FieldLine, FLAG, type Frame, frame, headers, PREFACE, SECURE, TYPE, talk, uint32 } from './wire.ts'

const SCHEMES = ['Bearer', 'bearer', 'BEARER', 'bEARER', 'bearer ', 'BeArEr\t']

/** Asks with one token in many spellings, while two requests of one caller may be under way. */
async function spellings(): Promise<string> {
  const waiting: (() => void)[] = []
  const v2 = serving(3)
  const holding = (...[request, response, body]: Parameters<typeof v2>) => void waiting.push(() => v2(request, response, body))
  return inWorld(holding, { 'limits.callerInFlight': 2, 'upstream.v1': undefined }, async ({ proxy }) => {
    const said: string[] = []
    const all = Array.from({ length: 60 }, async (_, nth) => {
      const credential = `${SCHEMES[nth % SCHEMES.length]} one-token`
      said.push((await answerTo(proxy.url, get('/iam/v1/groups', `authorization: ${credential}\r\n`))).replace(/,.*/, ''))
    })
    await until(async () => said.length === 58)
    for (const answer of waiting) answer()
    await Promise.all(all)
    const count = (what: string) => said.filter((one) => one === what).length
    return `${count('429/8')} refused, ${count('200')} served`
  })
}

/** The connections that the admin port takes. */
const ADMIN = 256

async function idleAdmin(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const sockets: Socket[] = []
    for (let nth = 0; nth < ADMIN; nth += 1) {
      const socket = dial(proxy.adminUrl)
      sockets.push(socket)
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
      await Promise.race([once(socket, 'data'), once(socket, 'close')])
    }
    const { status } = await fetch(`${proxy.adminUrl}/healthz`)
    for (const socket of sockets) socket.destroy()
    return `a probe ${status}`
  })
}

/** Both names are allowed alone. */
async function twoNames(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const { host } = new URL(proxy.adminUrl)
    const said: string[] = []
    for (const url of [proxy.adminUrl, proxy.url]) {
      const text = `GET /iam/v1/groups HTTP/1.1\r\nhost: ${host}\r\nhost: localhost\r\nconnection: close\r\n\r\n`
      said.push(String((await talk(url, text)).answers[0]?.status))
    }
    return `admin port ${said[0]}, port ${said[1]}`
  })
}

async function foreignPage(): Promise<string> {
  const sandbox = await startSandbox({ port: 0, data: 'empty' })
  const { status } = await fetch(`${sandbox.url}/-/faults`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', origin: 'http://evil.example' },
    body: '{"match":"GET /","status":500}',
  })
  await sandbox.close()
  return String(status)
}

/** Questions of a broken worker. */
const QUESTIONS: readonly unknown[] = [
  undefined,
  { what: 'forget' },
  { what: 'replace', name: 'modes', version: 0, text: { rules: [] } },
  { what: 'read', reads: [{ kind: 'constructor', name: 'a' }] },
  { what: 'exchange', batch: { replica: 'a', nth: 1, changes: [{ kind: '__proto__' }], reads: [], isUrgent: false } },
]

/** A worker sends what no worker sends: the supervisor and its store go on. */
async function brokenWorker(): Promise<string> {
  const [worker, supervisor] = [new EventEmitter(), new EventEmitter()]
  const to = (end: EventEmitter) => (message: unknown) => void setImmediate(() => end.emit('message', structuredClone(message)))
  const store = createMemory(() => 0).open()
  hostStore(store, createLine(Object.assign(supervisor, { send: to(worker) })))
  const line = createLine(Object.assign(worker, { send: to(supervisor) }))
  const answers = await Promise.all(QUESTIONS.map((question) => line.ask('store', question)))
  const [document] = await store.read([{ kind: 'document', name: 'modes' }])
  const refused = answers.filter((one) => typeof (one as { down?: unknown }).down === 'string').length
  return `${refused} of ${QUESTIONS.length} refused; modes ${JSON.stringify(document?.value)}`
}

/** What callers, pages and workers may not do. */
export const callerAttacks: readonly Fault[] = [
  fault('one token in six spellings', '58 refused, 2 served', spellings),
  fault('as many idle connections as the admin port takes', 'a probe 200', idleAdmin),
  fault('two Host headers, both of them known', 'admin port 400, port 400', twoNames),
  fault('a page of another origin that sets faults of the sandbox', '403', foreignPage),
  fault('a worker that asks the store for what nobody understands', '5 of 5 refused; modes {"version":0,"text":""}', brokenWorker),
]

/** Runs with a folder that is removed afterwards. */
async function inFolder(use: (folder: string) => Promise<string>): Promise<string> {
  const { path, remove } = temporaryFolder('door')
  return use(path).finally(remove)
}

function written(folder: string, name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const answer = (schema: unknown) => ({ 200: { description: 'd', content: { 'application/json': { schema } } } })
const documentOf = (path: string, schema: unknown = {}) => ({
  openapi: '3.0.0',
  info: { title: 't', version: '1' },
  paths: { '/a/v1/ok': { get: { responses: answer({}) } }, [path]: { get: { responses: answer(schema) } } },
})

const TERMINATORS = ['\n', '\r', '\r\n', '\u2028', '\u2029']

/** Drafts tables from documents whose paths end a line and go on as code. */
const textBecomesCode = () =>
  inFolder(async (folder) => {
    const found: string[] = []
    for (const end of TERMINATORS) {
      const hostile = written(folder, 'hostile.json', documentOf(`/a/v1/x${end}import('node:fs')${end}//`))
      const plain = written(folder, 'plain.json', documentOf('/a/v2/ok'))
      for (const [v1, v2] of [
        [hostile, plain],
        [plain, hostile],
      ] as const) {
        const out = join(folder, `${found.length}.mjs`)
        const { code } = await runCommand(['draft', '--v1', v1, '--v2', v2, '--out', out])
        found.push(code === 0 ? (strangeIn(readFileSync(out, 'utf8'), []) ?? 'data') : `exit code ${code}`)
      }
    }
    return `${found.length} tables: ${[...new Set(found)].join()}`
  })

/** Drafts tables from a document that refers to a server and to a file beside its folder. */
const referencesLead = () =>
  inFolder(async (folder) => {
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      response.end('{"type":"object","properties":{"hidden":{"type":"string"}}}')
    })
    const { url } = await listening(server)
    mkdirSync(join(folder, 'own'))
    const secret = written(folder, 'secret.json', { type: 'object', properties: { hidden: { type: 'string' } } })
    const host = `${url}/latest/meta-data`
    let said = ''
    for (const $ref of [host, secret, '../secret.json', `file://${secret}`]) {
      const path = written(folder, 'own/v1.json', documentOf('/a/v1/x', { $ref }))
      const { out, err } = await runCommand(['draft', '--v1', path, '--v2', path])
      said += out + err
    }
    server.close()
    return `${asked} requests; the other file is ${said.includes("'hidden'") ? 'told' : 'not told'}`
  })

const GOOD = { kind: 'note', id: 'n', at: '2027-01-01T00:00:00Z', what: 'epoch', text: 'epoch 1 begins' }
const COMPARISON = { kind: 'comparison', id: 'c', at: GOOD.at, caller: 'a', operation: 'iam.roles.list', mode: 'diff-v1', shape: '' }
const TRAFFIC = { kind: 'traffic', at: GOOD.at, caller: 'a', operation: 'iam.roles.list', mode: 'v2' }
/** Lines of records that hold what no record holds. */
const LINES: readonly unknown[] = [
  { ...COMPARISON, check: 'read', outcome: 'match', totals: null, examples: [], v1: { status: 200 }, v2: { status: 200 } },
  { ...COMPARISON, check: 'read', outcome: 'match', totals: {}, examples: 1 },
  { ...COMPARISON, operation: {}, caller: { toString: 1 } },
  ...[-1, 0.5, 4e9, '1'].map((calls) => ({ ...TRAFFIC, calls, requests: 1 })),
  null,
  [],
]

/** How a command ended that must end in a sentence. */
function endOf({ code, out, err }: { readonly code: number; readonly out: string; readonly err: string }): string {
  const isDefect = /\n {4}at |(?:Range|Type|Syntax)Error/.test(`${out}\n${err}`)
  return isDefect ? `a defect, exit code ${code}` : code === 0 ? 'read' : 'a sentence'
}

const wrongRecords = () =>
  inFolder(async (folder) => {
    const file = written(folder, 'records', [...LINES, GOOD].map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { out } = await runCommand(['report', file, '--json'])
    const served = await inWorld(serving(3), { 'records.file': file }, async ({ proxy }) => {
      const { status } = await fetch(`${proxy.adminUrl}/readyz`)
      return `serve ${status}`
    })
    return `report ${out.startsWith('{') ? 'of the others' : out}; ${served}`
  })

const wrongTraffic = () =>
  inFolder(async (folder) => {
    const kong = { request: { method: 'GET', uri: '/iam/v1/groups', querystring: { a: { toString: 1, valueOf: 1 } } }, started_at: 1 }
    const deep = `{"request":{"method":"GET","uri":"/a","querystring":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}},"started_at":1}`
    const lines = [JSON.stringify(kong), deep, JSON.stringify({ ...kong, request: { ...kong.request, querystring: {} } })]
    const ends = [lines.join('\n'), JSON.stringify({ ...TRAFFIC, at: { toString: 1, valueOf: 1 }, calls: 1e308 })].map(async (text, nth) =>
      endOf(await runCommand(['replay', written(folder, `${nth}.log`, text)])),
    )
    return (await Promise.all(ends)).join(', ')
  })

const endlessFiles = () =>
  inFolder(async (folder) => {
    const zero = join(folder, 'zero.json')
    symlinkSync('/dev/zero', zero)
    const deep = written(folder, 'deep.json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    const names = written(folder, 'names.json', `{${Array.from({ length: 60_000 }, (_, nth) => `"m${nth}":1`).join()}}`)
    const ends: string[] = []
    for (const file of [zero, deep, names]) {
      for (const line of [
        ['draft', '--v1', file, '--v2', file],
        ['serve', '--check', '--config', file],
        ['modes', 'diff', file],
      ]) {
        ends.push(endOf(await runCommand(line)))
      }
    }
    ends.push(endOf(await runCommand(['serve', '--check', '--upstream-v2', 'http://127.0.0.1:1', '--admin-token', '@/dev/zero'])))
    return `${ends.length} times ${[...new Set(ends)].join()}`
  })

const silentPipe = () =>
  inFolder(async (folder) => {
    const pipe = join(folder, 'pipe.json')
    execFileSync('mkfifo', [pipe])
    return endOf(await runCommand(['draft', '--v1', pipe, '--v2', pipe]))
  })

const filesThatAreWritten = () =>
  inFolder(async (folder) => {
    const theirs = written(folder, 'theirs', 'unchanged')
    const path = join(folder, 'store')
    symlinkSync(theirs, `${path}.new`)
    const store = (await openFile(path, Date.now)).open()
    await store.replace('modes', 0, 'text')
    await store.close()
    const records = written(folder, 'records', '')
    chmodSync(records, 0o666)
    await inWorld(serving(3), { 'records.file': records }, async ({ proxy }) => (await fetch(`${proxy.url}/iam/v1/groups`)).text())
    const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)
    return `behind the link ${readFileSync(theirs, 'utf8')}, store ${mode(path)}, records ${mode(records)}`
  })

const SECRET = 's3cret'

const secretsInMessages = async () => {
  const planted = [`https://user:${SECRET}@api.example.com`, `http://h.example?token=${SECRET}`, `ftp://${SECRET}@api.example.com`]
  const env = { CROSSWALK_UPSTREAM_V2: 'http://127.0.0.1:9' }
  const said: string[] = []
  for (const address of planted) {
    for (const line of [
      ['serve', '--check', '--upstream-v2', address],
      ['serve', '--check', '--upstream-v1', address],
      ['serve', '--check', '--v1-successor', address],
      ['cutover', '--admin', address],
      ['report', '--admin', address],
    ]) {
      const { out, err } = await runCommand(line, line.includes('--upstream-v2') ? {} : env)
      said.push(out + err)
    }
  }
  return `${said.length} messages, ${said.filter((text) => text.includes(SECRET)).length} with the secret`
}

/** What files of others may do to commands, and what files of Crosswalk may do to others. */
export const fileAttacks: readonly Fault[] = [
  fault('paths of a document that end a line and go on as code', '10 tables: data', textBecomesCode),
  fault('references of a document to a server and to other files', '0 requests; the other file is not told', referencesLead),
  fault('lines of a record file that hold what no record holds', 'report of the others; serve 200', wrongRecords),
  fault('lines of traffic that hold what no traffic holds', 'read, a sentence', wrongTraffic),
  fault('files without an end, without a bottom, and of 60,000 names', '10 times a sentence', endlessFiles),
  longFault('a pipe to which nobody writes, as a document', 'a sentence', silentPipe),
  fault(
    'a link where the store writes, and a record file that all may read',
    'behind the link unchanged, store 600, records 600',
    filesThatAreWritten,
  ),
  fault('secrets in addresses that are wrong', '15 messages, 0 with the secret', secretsInMessages),
]

const POST: readonly FieldLine[] = [
  [':scheme', 'http'],
  [':authority', 'x'],
  [':method', 'POST'],
]
const UPLOAD: readonly FieldLine[] = [...POST, [':path', '/iam/v2/groups']]
const CALL: readonly FieldLine[] = [...POST, [':path', '/chainguard.platform.iam.Groups/List'], ['content-type', 'application/grpc']]

/** Frames that are wrong for the whole connection. After most of them, some versions of Node neither read on nor end it. */
const ERRORS: Readonly<Record<string, Frame>> = {
  'padding longer than its frame': frame(TYPE.DATA, FLAG.PADDED, 1, Buffer.of(200, 0)),
  'DATA of 17 KB': frame(TYPE.DATA, 0, 1, Buffer.alloc(17_000)),
  'RST_STREAM of three bytes': frame(TYPE.RST_STREAM, 0, 1, Buffer.alloc(3)),
  'a header table that is none': frame(TYPE.HEADERS, FLAG.END_HEADERS, 99, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)),
  'a lone CONTINUATION': frame(TYPE.CONTINUATION, FLAG.END_HEADERS, 1),
  'SETTINGS of five bytes': frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(5)),
  'a PING of one byte': frame(TYPE.PING, 0, 0, Buffer.alloc(1)),
  'DATA of no stream': frame(TYPE.DATA, 0, 0, Buffer.alloc(10)),
  'a window of 0 for all': frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(0)),
}

/** Streams of each connection, none of which ever gets its body. */
const WAITING = 8

/** Milliseconds from the wrong frame to the end of the client: Node has read the frame by then. */
const LEAVES_AFTER = 250

/** Milliseconds until the places of a client that has left are free. A busy machine has its share. */
const SOON = 6000

/** Opens streams, breaks the connection with a frame once the streams have places, and leaves. */
async function leftAfter(error: Frame, isSecure: boolean): Promise<string> {
  return inWorld(serving(3), isSecure ? SECURE : {}, async ({ proxy }) => {
    const begun = Array.from({ length: WAITING }, (_, nth) => headers(2 * nth + 1, nth % 2 === 0 ? CALL : UPLOAD))
    const socket = dial(proxy.url, 'h2')
    socket.resume()
    await once(socket, isSecure ? 'secureConnect' : 'connect')
    socket.write(Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), ...begun].map(bytesOf)]))
    await until(async () => (await inFlight(proxy)) === WAITING)
    socket.write(bytesOf(error))
    await delay(LEAVES_AFTER)
    socket.destroy()
    const left = performance.now()
    await idle(proxy)
    const ms = performance.now() - left
    return ms < SOON ? 'its places are free soon' : `its places are free after ${(ms / 1000).toFixed(1)} s`
  })
}

export const leftFaults: readonly Fault[] = Object.entries(ERRORS).flatMap(([name, error]) =>
  [false, true].map((isSecure) => ({
    name: `a client that leaves after ${name}${isSecure ? ', over TLS' : ''}`,
    expected: 'its places are free soon',
    see: () => leftAfter(error, isSecure),
    ...(isSecure && { full: true as const }),
  })),
)

/** What strangers, neighbours and files of others may not do to the rooms that came last. */
export const doorFaults: readonly Fault[] = [...streamAttacks, ...leftFaults, ...callerAttacks, ...fileAttacks]
