import { execFile } from 'node:child_process'
import { parseArgs } from 'node:util'
import { Agent, request as send } from 'undici'
import type { CutoverVerdict } from '../../../src/migrate/evidence/cutover.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { paced, seeded, zipf } from '../../stage/clocks.ts'
import { startQuietSandbox } from '../../stage/stage.ts'
import { program, serve } from '../faults/process/child.ts'
import { type Read, readsOf, type Uids, uidsOf } from './reads.ts'
import { type Role, startRelay } from './stage.ts'

/** Clients of each demo user. Each has a token of its own. */
const CLIENTS: Readonly<Partial<Record<Role, number>>> = { owner: 320, admin: 80, viewer: 80, outsider: 80 }

/** Returns the demo user of a client's token. */
function roleOf(authorization = ''): Role | undefined {
  const [, role] = /^Bearer mixture-([a-z]+)-\d+$/.exec(authorization) ?? []
  return role !== undefined && role in CLIENTS ? (role as Role) : undefined
}

/** A resource that clients make, change and delete again. All its writes are sent through Crosswalk. */
interface Written {
  readonly resource: string
  readonly path: string
  /** Where it is made: a uid. */
  readonly parent: (uids: Uids) => string
  /** The nth resource, as its version says. */
  readonly body: (nth: number, version: number) => object
  /** Oldest first. */
  readonly made: { readonly id: string; readonly nth: number }[]
}

const digest = (nth: number) => `sha256:${nth.toString(16).padStart(64, '0')}`

const named = (nth: number, version: number) => ({ name: `mixture-${nth}`, description: `version ${version}` })
const inFolder = ({ folder }: Uids) => folder

const writtenOf = (): readonly Written[] => [
  { resource: 'iam.groups', path: '/iam/v1/groups', parent: inFolder, made: [], body: named },
  {
    ...{ resource: 'iam.roles', path: '/iam/v1/roles', parent: inFolder, made: [] },
    body: (...given) => ({ ...named(...given), capabilities: ['groups.list', 'repo.list'] }),
  },
  {
    ...{ resource: 'iam.identities', path: '/iam/v1/identities', parent: inFolder, made: [] },
    body: (...given) => ({ ...named(...given), claim_match: { issuer: 'https://a.example', subject: `s-${given[0]}` } }),
  },
  { resource: 'registry.repos', path: '/registry/v1/repos', parent: inFolder, made: [], body: named },
  {
    ...{ resource: 'registry.tags', path: '/registry/v1/tags', parent: ({ small }) => small, made: [] },
    body: (nth, version) => ({ name: `mixture-${nth}`, digest: digest(version), bundles: ['base'] }),
  },
]

/** Resources of one kind that exist at the same time. */
const MOST = 12

/** Resources that are left alone before one of them is changed, so that a list shows them for a while. */
const LEAST = 4

const VERBS = ['create', 'update', 'delete'] as const

/** Clients that send reads and writes by Zipf's law. In bursts, one of them repeats a read. */
function createClients(url: string, sandbox: Sandbox, uids: Uids, random: () => number) {
  const agent = new Agent({ connections: 64 })
  const reads = new Map<string, Read[]>()
  for (const one of readsOf(sandbox, uids)) reads.set(one.operation, [...(reads.get(one.operation) ?? []), one])
  const written = writtenOf()
  const operations = [...reads.keys(), ...VERBS.flatMap((verb) => written.map(({ resource }) => `${resource}.${verb}`))]
  const busy = zipf(operations.length)
  const [sent, statuses] = [new Map<string, number>(), new Map<number, number>()]
  const clientOf = (role: Role = 'owner') => `Bearer mixture-${role}-${Math.floor((CLIENTS[role] ?? 1) * random())}`
  const ask = async (operation: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, authorization: string, body?: object) => {
    sent.set(operation, (sent.get(operation) ?? 0) + 1)
    const answer = await send(url + path, {
      ...{ method, headers: { authorization }, dispatcher: agent },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1)
    return answer.statusCode < 300 ? text : undefined
  }
  let [made, burst] = [0, { left: 0, read: undefined as Read | undefined, authorization: '' }]
  const read = async (one: Read, authorization: string) => void (await ask(one.operation, 'GET', one.path, authorization))
  const write = async ({ resource, path, parent, body, made: known }: Written, wanted: (typeof VERBS)[number]) => {
    const verb = known.length < LEAST ? 'create' : wanted === 'create' && known.length >= MOST ? 'delete' : wanted
    const operation = `${resource}.${verb}`
    made += 1
    const version = made
    if (verb === 'create') {
      const text = await ask(operation, 'POST', `${path}/${parent(uids)}`, clientOf(), body(version, version))
      const { id } = JSON.parse(text ?? '{}') as { id?: string }
      if (id !== undefined) known.push({ id, nth: version })
      return
    }
    const one = known.shift()
    if (!one) return
    if (verb === 'delete') return void (await ask(operation, 'DELETE', `${path}/${one.id}`, clientOf()))
    await ask(operation, 'PUT', `${path}/${one.id}`, clientOf(), body(one.nth, version))
    known.push(one)
  }
  return {
    /** Operations that clients call, the busiest first. The last ones are writes. */
    operations,
    /** Requests by operation, and answers by status. */
    sent,
    statuses,
    /** Sends the next request of the mixture. */
    async act() {
      if (burst.left > 0 && burst.read) {
        burst.left -= 1
        return read(burst.read, burst.authorization)
      }
      const operation = operations[busy.draw(random)] ?? ''
      const kinds = reads.get(operation)
      if (!kinds) {
        const [verb = 'create'] = VERBS.filter((one) => operation.endsWith(one))
        const one = written.find(({ resource }) => operation === `${resource}.${verb}`)
        return one && write(one, verb)
      }
      const one = kinds[Math.floor(kinds.length * random())] as Read
      const authorization = clientOf(one.role)
      if (random() < 0.01) burst = { left: 10, read: one, authorization }
      return read(one, authorization)
    },
    close: () => agent.destroy(),
  }
}

/**
 * Sends a mixture of 45 operations to a real proxy in `diff-v1`, in front of a sandbox whose v2 is right, until `crosswalk cutover` says READY.
 * v1 answers everything in the first minute. Then a person lets v2 make the writes that the verdict misses. Exits with 1 if time runs out.
 */

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: '0.02' },
    rate: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
})
const [rate, seconds] = [Number(values.rate), 60 * Number(values.minutes)]

/** Seconds between two questions, and until v2 is given the writes. */
const ASK_EVERY = 15
const TRIALS_AT = 60

/** Requests in flight. */
const CROWD = 200

const CLI = program('../../../../src/cli.js')

interface Told {
  readonly code: number
  readonly text: string
}

function crosswalk(...argv: readonly string[]): Promise<Told> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...argv], { maxBuffer: 2 ** 28 }, (error, out, problem) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: out + problem })
    })
  })
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

const sandbox = await startQuietSandbox({})
const uids = await uidsOf(sandbox)
const senderOf = (authorization: string | undefined) => {
  const role = roleOf(authorization)
  return role && { token: sandbox.tokens[role], spoil: undefined, sent: new Map<string, number>() }
}
const relay = await startRelay({ to: sandbox.url, senderOf, remembers: false })
const child = await serve({ 'upstream-v2': relay.url, 'upstream-v1': relay.url, mode: 'diff-v1' })
const clients = createClients(child.url, sandbox, uids, seeded(Number(values.seed)))
say(`${clients.operations.length} operations at ${rate} requests a second, target ${values.target}, --seed ${values.seed}`)

const judge = async () => {
  const { text } = await crosswalk('cutover', '--admin', child.adminUrl, '--target', values.target, '--wait', '10', '--json')
  return JSON.parse(text) as CutoverVerdict
}

/** Gives v2 the writes that it was never asked for. */
async function tryWrites({ operations }: CutoverVerdict): Promise<void> {
  const untried = operations.flatMap(({ operation, blocks, reason }) => (blocks && reason.includes('never been seen') ? [operation] : []))
  const modes = { default: 'diff-v1', rules: [{ operations: untried, mode: 'diff-v2' }] }
  const answer = await fetch(`${child.adminUrl}/modes`, {
    ...{ method: 'PUT', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(modes),
  })
  if (!answer.ok) throw new Error(`PUT /modes: ${await answer.text()}`)
  say(`v2 makes ${untried.length} writes from now on: ${untried.join(', ')}`)
}

/** Keeps the rate until the verdict is READY or time is over. Returns the seconds until READY. */
async function run(): Promise<number | undefined> {
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)
  const acts = paced(() => clients.act().catch(failed), rate, CROWD)
  let [asked, isTried, asking] = [0, false, false]
  let ready: number | undefined
  const ask = async (at: number) => {
    const verdict = await judge()
    say(lineOf(at, clients, verdict))
    if (verdict.ready) ready ??= at
    if (!isTried && at >= TRIALS_AT) {
      isTried = true
      await tryWrites(verdict)
    }
  }
  for (;;) {
    acts.startDue()
    const passed = acts.passed()
    if (!asking && passed >= asked + ASK_EVERY) {
      asked = passed
      asking = true
      void ask(passed)
        .catch(failed)
        .finally(() => {
          asking = false
        })
    }
    if (ready !== undefined || passed >= seconds || failures.length > 0) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await acts.settled()
  if (failures.length > 0) throw failures[0]
  return ready
}

function lineOf(at: number, { sent }: Pick<typeof clients, 'sent'>, { operations, whole }: CutoverVerdict): string {
  const requests = [...sent.values()].reduce((sum, one) => sum + one, 0)
  const missing = operations.filter(({ blocks }) => blocks)
  const bound = whole === undefined ? '' : `bound ${(100 * whole.bound).toFixed(2)} % by ${whole.observations} observations, `
  return `${at.toFixed(0).padStart(4)} s: ${requests} requests, ${bound}${missing.length} of ${operations.length} operations in the way`
}

/** Leaves out the operations that are ready. */
const inTheWay = ({ text }: Told) => text.replaceAll(/^ {2}ok .*: seen the same .*\n(?: {7}.*\n)*/gm, '')

const ready = await run()
const [atTarget, strict, usual] = [
  await crosswalk('cutover', '--admin', child.adminUrl, '--target', values.target),
  await crosswalk('cutover', '--admin', child.adminUrl, '--target', values.target, '--each', '--json'),
  await crosswalk('cutover', '--admin', child.adminUrl),
]
const strictly = JSON.parse(strict.text) as CutoverVerdict
say(`statuses: ${JSON.stringify(Object.fromEntries(clients.statuses))}`)
say(`requests: ${[...clients.sent].map(([operation, requests]) => `${operation} ${requests}`).join(', ')}`)
say(`\n$ crosswalk cutover --target ${values.target}    (exit code ${atTarget.code})\n${inTheWay(atTarget)}`)
say(
  `$ crosswalk cutover --target ${values.target} --each    (exit code ${strict.code}): ${strictly.operations.filter(({ blocks }) => blocks).length} of ${strictly.operations.length} operations in the way`,
)
say(`\n$ crosswalk cutover    (exit code ${usual.code})\n${inTheWay(usual)}`)
await child.stop('SIGTERM')
await clients.close()
await relay.close()
await sandbox.close()
say(ready === undefined ? `NOT READY within ${seconds} s` : `READY after ${ready.toFixed(0)} s`)
process.exitCode = ready !== undefined && atTarget.code === 0 ? 0 : 1
