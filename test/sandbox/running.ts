import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'

/** The instant at which tests start by default. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export type CallOptions = {
  /** A bearer token: demo-owner by default, none if null. */
  readonly token?: string | null
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of JSON, and an expectation on a wrong one fails by itself
  readonly json: any
}

export type Running = {
  readonly sandbox: () => Sandbox
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Reply>
  readonly get: (path: string, token?: string) => Promise<Reply>
  readonly post: (path: string, body: unknown, token?: string) => Promise<Reply>
  readonly patch: (path: string, body: unknown, token?: string) => Promise<Reply>
  readonly remove: (path: string, token?: string) => Promise<Reply>
}

const send = async (url: string, method: string, { token = 'demo-owner', body, text, headers = {} }: CallOptions): Promise<Reply> => {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const answered = await response.text()
  return { status: response.status, headers: response.headers, text: answered, json: answered === '' ? undefined : JSON.parse(answered) }
}

/** A sandbox on a free port for the tests of one file. `fresh` starts a new one before each test. */
export const running = (options: SandboxOptions = {}, { fresh = false } = {}): Running => {
  let sandbox: Sandbox | undefined
  const open = async (): Promise<void> => {
    await sandbox?.close()
    sandbox = await startSandbox({ port: 0, now: START, ...options })
  }
  if (fresh) beforeEach(open)
  else beforeAll(open)
  afterAll(async () => sandbox?.close())
  const current = (): Sandbox => {
    if (!sandbox) throw new Error('the sandbox is not running yet')
    return sandbox
  }
  const call = (method: string, path: string, callOptions: CallOptions = {}) => send(`${current().url}${path}`, method, callOptions)
  const as = (token: string | undefined) => (token === undefined ? {} : { token })
  return {
    sandbox: current,
    call,
    get: (path, token) => call('GET', path, as(token)),
    post: (path, body, token) => call('POST', path, { body, ...as(token) }),
    patch: (path, body, token) => call('PATCH', path, { body, ...as(token) }),
    remove: (path, token) => call('DELETE', path, as(token)),
  }
}
