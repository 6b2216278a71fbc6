import { EventEmitter, once } from 'node:events'
import net from 'node:net'
import { createLine } from '../../../src/app/server/line.ts'
import { hostStore } from '../../../src/fleet/store/ipc.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld, serving } from '../world.ts'

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
      const text = `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: ${credential}\r\n\r\n`
      said.push(say((await talk(proxy.url, text, 1)).answers[0]).replace(/,.*/, ''))
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
    const port = Number(new URL(proxy.adminUrl).port)
    const sockets: net.Socket[] = []
    for (let nth = 0; nth < ADMIN; nth += 1) {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {})
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
  { name: 'one token in six spellings', expected: '58 refused, 2 served', see: spellings },
  { name: 'as many idle connections as the admin port takes', expected: 'a probe 200', see: idleAdmin },
  { name: 'two Host headers, both of them known', expected: 'admin port 400, port 400', see: twoNames },
  { name: 'a page of another origin that sets faults of the sandbox', expected: '403', see: foreignPage },
  {
    name: 'a worker that asks the store for what nobody understands',
    expected: '5 of 5 refused; modes {"version":0,"text":""}',
    see: brokenWorker,
  },
]
