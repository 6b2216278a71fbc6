import { setImmediate } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { createNotifier, createReceiver, createSign, type Notifier, type NotifierSettings, ROOM } from '../../src/admin/notify.ts'
import { type Seen, startUpstream, type Upstream } from '../stage/upstream.ts'

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

/** A notifier for a receiver. Chance gives 0, so that every pause has its whole length. */
export function notifierFor({ url }: Pick<Upstream, 'url'>, settings: Partial<NotifierSettings> = {}): TestNotifier {
  const pauses: number[] = []
  const warned: string[] = []
  const notifier = createNotifier({
    receiver: createReceiver(`${url}/hook?token=hidden`, 30_000),
    sign: createSign([SECRET]),
    source: 'urn:crosswalk:test',
    attempts: 5,
    room: ROOM,
    now: Date.now,
    random: () => 0,
    pause: async (ms) => void pauses.push(ms),
    warn: (text) => warned.push(text),
    ...settings,
  })
  return {
    ...notifier,
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
