/**
 * Sends a mixture of 45 operations to a real proxy in `diff-v1`, in front of a sandbox whose v2 is right, until `crosswalk cutover` says READY.
 * v1 answers everything in the first minute. Then a person lets v2 make the writes that the verdict misses. Exits with 1 if time runs out.
 */
import { execFile } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { CutoverVerdict } from '../../src/migrate/evidence/cutover.ts'
import { program, serve } from '../faults/process/child.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { seeded } from '../stage/seeded.ts'
import { createClients, type MixtureClients, roleOf } from './mixture/clients.ts'
import { uidsOf } from './reads/uids.ts'
import { startRelay } from './stage/relay.ts'

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

/** Requests in flight. If the machine stops for a moment, the rate drops instead of causing an overload. */
const CROWD = 200

const CLI = program('../../../src/cli.js')

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
  const untried = operations.flatMap(({ operation, blocks, reason }) => (blocks && reason.includes('never been asked') ? [operation] : []))
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
  const began = performance.now()
  const pending = new Set<Promise<void>>()
  const failures: unknown[] = []
  let [acts, asked, isTried, asking] = [0, 0, false, false]
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
    const passed = (performance.now() - began) / 1000
    for (; acts < passed * rate; acts++) {
      if (pending.size >= CROWD) continue
      const act: Promise<void> = clients
        .act()
        .catch((error: unknown) => void failures.push(error))
        .finally(() => pending.delete(act))
      pending.add(act)
    }
    if (!asking && passed >= asked + ASK_EVERY) {
      asked = passed
      asking = true
      void ask(passed)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          asking = false
        })
    }
    if (ready !== undefined || passed >= seconds || failures.length > 0) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(pending)
  if (failures.length > 0) throw failures[0]
  return ready
}

function lineOf(at: number, { sent }: Pick<MixtureClients, 'sent'>, { operations, whole }: CutoverVerdict): string {
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
