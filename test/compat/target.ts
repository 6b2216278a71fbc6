import type { Dialect } from './spell.ts'

/** The owner of a request's token: `nobody` sends none, `stranger` an unknown one, `expired` a former one of the owner. */
export type Role = 'owner' | 'editor' | 'viewer' | 'outsider' | 'admin' | 'nobody' | 'stranger' | 'expired'

/** `genuine` = a v1 service itself; `proxied` = v1 served from v2. */
export type Side = 'genuine' | 'proxied'

/** A v1 API at some address. The cases know nothing else about it. */
export interface Target {
  readonly url: string
  readonly side: Side
  readonly dialect: Dialect
  /** The uid of the organization that `owner` owns. Everything is created below it. */
  readonly organization: string
  readonly token: (role: Role) => string | undefined
  /** A part of every name in a case, so that two runs against one address do not collide. */
  readonly run: string
  /** Called before each request: a test that owns the clock advances it here. */
  readonly tick?: () => void
  /** Gets each request before it is sent. */
  readonly announce?: (role: Role, request: Request) => void
  /** Sends requests another way than over HTTP. */
  readonly carry?: Carry
}

/** Sends a request as a call; undefined if no call says the same. */
export type Carry = (request: Request, token: string | undefined) => Promise<Answer> | undefined

export interface Request {
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

export interface Answer {
  readonly status: number
  readonly type: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the cases
  readonly body: any
}

/** Sends one request as a role and decodes the answer. A body that is not JSON stays text. */
export async function send(target: Target, role: Role, request: Request): Promise<Answer> {
  const { method, path, headers = {}, text } = request
  target.tick?.()
  target.announce?.(role, request)
  const token = target.token(role)
  const carried = target.carry?.(request, token)
  if (carried) return carried
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const body = text === undefined ? {} : { body: text }
  const response = await fetch(`${target.url}${path}`, { method, headers: { ...authorization, ...headers }, ...body })
  return { status: response.status, type: response.headers.get('content-type'), body: decode(await response.text()) }
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
