import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Webhook } from 'standardwebhooks'
import { createNotifier, createReceiver, createSign, type Notifier, type NotifierSettings, ROOM } from '../../src/admin/notify.ts'
import type { Note } from '../../src/migrate/records/record.ts'
import { closedLater, type Seen, startUpstream, type Upstream } from '../stage/upstream.ts'

const schema = JSON.parse(readFileSync('docs/notification.schema.json', 'utf8'))
const ajv = new Ajv({ allErrors: true })
// biome-ignore lint/suspicious/noExplicitAny: the package describes its export for another module system
;(addFormats as any)(ajv)
const validate = ajv.compile(schema)

/** The types that the schema knows. */
export const TYPES: readonly string[] = schema.properties.type.enum

/** Returns what is wrong with an event. */
export function problemsOf(event: unknown): readonly unknown[] {
  return validate(event) ? [] : (validate.errors ?? [])
}

/** A note of each kind, as the proxy makes it; docs/reference/events.md shows the events that they become. */
export const SAMPLES: readonly Omit<Note, 'kind' | 'at' | 'id'>[] = [
  {
    what: 'circuit',
    operation: 'registry.repos.list',
    text: 'errors: 4 of the last 4 answers failed, so at least 10.4 % do; 5 % is allowed, open since 2026-11-26T12:00:00.000Z for rollout registry. Only a person can close it',
    by: { source: 'circuit' },
    from: 'closed',
    to: 'open',
  },
  {
    what: 'circuit-closed',
    operation: 'registry.repos.list',
    text: '0 of 254 answers failed, at most 1.2 % do (allowed: 5 %)',
    by: { source: 'circuit' },
    from: 'open',
    to: 'closed',
  },
  {
    what: 'modes',
    text: 'admin port, token alice, from 127.0.0.1: iam.*: no rule → diff-v2; default: unchanged',
    by: { source: 'admin', token: 'alice', address: '127.0.0.1' },
    from: 'everything else diff-v1',
    to: 'iam.* diff-v2; everything else diff-v1',
    version: 2,
  },
  {
    what: 'rollout',
    rollout: 'iam-reads',
    text: 'rollout iam-reads: 2 operations inside 1 % after 611 observations and 31 min with traffic.',
    by: { source: 'rollout' },
    from: 'running at step 1 of 3 (1 %)',
    to: 'running at step 2 of 3 (10 %)',
  },
  {
    what: 'ready',
    operation: 'iam.groups.list',
    text: 'iam.groups.list: bound 0.0999 % ≤ 0.1 % after 3,282 observations.',
    from: 'inconclusive',
    to: 'inside',
  },
  {
    what: 'not-ready',
    operation: 'iam.groups.list',
    text: 'iam.groups.list: HELD BACK, because its circuit is open. errors: 4 of the last 4 answers failed, so at least 10.4 % do; 5 % is allowed, open since 2026-11-26T12:00:00.000Z for rollout iam. Only a person can close it.',
    from: 'inside',
    to: 'held-back',
  },
  {
    what: 'ready',
    text: 'All 12 operations with traffic have a bound of 0.1 % or less.',
    from: 'not ready',
    to: 'ready',
  },
  { what: 'not-ready', text: 'In the way: iam.groups.list.', from: 'ready', to: 'not ready' },
  {
    what: 'epoch',
    text: 'epoch 2 begins: what was seen before proves nothing any more',
    by: { source: 'admin', token: 'ops', address: '10.0.0.7' },
  },
  {
    what: 'conflict',
    text: 'the store and this replica had different modes of version 4, those of the store win on all replicas: what was put by admin port, token alice is lost',
    from: 'everything else v1',
    to: 'everything else diff-v1',
    version: 4,
  },
  {
    what: 'store-lost',
    text: 'The store lost what it knew of this epoch before 2026-11-26T12:00:00.000Z: older observations are gone, wrong ones among them; begin a new epoch.',
  },
  {
    what: 'records-lost',
    text: 'records.file lost 120 records since this process started, wrong answers perhaps among them: a restart misses them',
  },
  {
    what: 'clock',
    text: 'the clock of v2 is some 5 min ahead of that of this machine: look at the time service of both machines',
    to: 'differs',
  },
  {
    what: 'acceptance',
    text: 'iam.terms.* may move without proof until 2027-01-31: a lawyer calls it once a year',
    from: 'not accepted',
    to: 'accepted',
    by: { source: 'file', path: 'crosswalk.json' },
  },
  { what: 'restart', text: '3,312 records were read back', by: { source: 'start' } },
]

/** Secrets as `notify.secret` takes them: the one in use, the next one, and one that signs nothing. */
export const [SECRET, NEXT, WRONG] = ['one', 'two', 'wrong'].map((name) => `whsec_${Buffer.from(name.repeat(10)).toString('base64')}`) as [
  string,
  string,
  string,
]

/** The answer to one request: a status, a status with headers, or what a script does with the response. */
type Turn = number | readonly [status: number, headers: Record<string, string>] | Parameters<typeof startUpstream>[0]

export interface TestWebhook extends Upstream {
  /** The events that arrived, in order. Throws if a signature is wrong. */
  events(secret?: string): readonly Record<string, unknown>[]
}

/** A real receiver. It answers each request by the next turn, and 204 when there is none. */
export async function startWebhook(turns: readonly Turn[] = []): Promise<TestWebhook> {
  const left = [...turns]
  const upstream = await startUpstream((request, response, body) => {
    const turn = left.shift() ?? 204
    if (typeof turn === 'function') return turn(request, response, body)
    const [status, headers] = typeof turn === 'number' ? [turn, {}] : turn
    response.writeHead(status, headers).end()
  })
  return { ...upstream, events: (secret = SECRET) => upstream.seen.map((one) => verified(one, secret)) }
}

/** Returns the event of a request whose signature is that of a secret. Throws for any other. */
export function verified({ body, headers }: Seen, secret: string): Record<string, unknown> {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>
}

export interface TestNotifier extends Notifier {
  /** Milliseconds of the pauses so far. None of them takes any time. */
  readonly pauses: readonly number[]
  /** What was logged. */
  readonly warned: readonly string[]
  /** Sends a note about the operation of this name. */
  send(...operations: readonly string[]): void
  /** Resolves when no event waits. */
  idle(): Promise<void>
}

/** A notifier for a receiver, closed after its test. Chance gives 0 and its clock stands still: every pause has its whole length. */
export function notifierFor({ url }: Pick<Upstream, 'url'>, settings: Partial<NotifierSettings> = {}): TestNotifier {
  const pauses: number[] = []
  const warned: string[] = []
  const started = Date.now()
  const notifier = createNotifier({
    receiver: createReceiver(`${url}/hook?token=hidden`, 30_000),
    sign: createSign([SECRET]),
    source: 'urn:crosswalk:test',
    attempts: 5,
    room: ROOM,
    now: () => started,
    random: () => 0,
    pause: async (ms) => void pauses.push(ms),
    warn: (text) => warned.push(text),
    ...settings,
  })
  return {
    ...notifier,
    close: closedLater(notifier.close),
    pauses,
    warned,
    send(...operations) {
      for (const operation of operations) {
        notifier.tell({ kind: 'note', id: `id-${operation}`, at: '2026-01-01T00:00:00.000Z', what: 'circuit', operation, text: 'a reason' })
      }
    },
    async idle() {
      while (notifier.counts().waiting > 0) await setImmediate()
    },
  }
}
