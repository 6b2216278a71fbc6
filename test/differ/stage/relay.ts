import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Agent, request as send } from 'undici'

/** A call of Crosswalk on its way to a service. */
export interface RelayedCall {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  /** How often its caller has sent the same method and URL to this side so far: 1 for the first time. */
  readonly nth: number
}

/** An answer of a service on its way to Crosswalk. */
export interface RelayedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Asks the service. Another method, URL or body takes the place of the call's own. */
export type Forward = (instead?: Partial<Pick<RelayedCall, 'method' | 'url' | 'body'>>) => Promise<RelayedAnswer>

/**
 * Answers a call in place of the service: with its answer, with a changed one, or without asking it at all.
 * `reset` breaks the connection.
 */
export type Spoil = (call: RelayedCall, forward: Forward) => Promise<RelayedAnswer | 'reset'>

/** What a relay knows of the sender of a call. */
export interface Sender {
  /** The token that the service knows. */
  readonly token: string
  readonly spoil: Spoil | undefined
  /** Counts the calls, by method and URL. */
  readonly sent: Map<string, number>
}

/** A relay before one service. */
export interface Relay {
  readonly url: string
  close(): Promise<void>
}

export interface RelaySettings {
  /** The service. */
  readonly to: string
  readonly senderOf: (authorization: string | undefined) => Sender | undefined
  /** Answers each GET of the same token from memory after the first time. Only for data that nobody writes. */
  readonly remembers: boolean
}

const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'date', 'accept-encoding'])

/** Starts a relay on a free port of this machine. */
export async function startRelay(settings: RelaySettings): Promise<Relay> {
  const agent = new Agent({ connections: 64 })
  const forwardFor = forwarding(settings, agent)
  const relay = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '/' } = request
    const read = await buffer(request)
    const sender = settings.senderOf(request.headers.authorization)
    const headers = { ...passedOn(request.headers), ...(sender && { authorization: `Bearer ${sender.token}` }) }
    const nth = (sender?.sent.get(`${method} ${url}`) ?? 0) + 1
    sender?.sent.set(`${method} ${url}`, nth)
    const call: RelayedCall = { method, url, headers, body: read.length > 0 ? read : undefined, nth }
    const forward: Forward = (instead) => forwardFor({ ...call, ...instead })
    const answer = await (sender?.spoil ? sender.spoil(call, forward) : forward())
    if (answer === 'reset') return void response.destroy()
    response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length })
    response.end(answer.body)
  }
  const server = http.createServer((request, response) => void relay(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await agent.destroy()
    },
  }
}

function forwarding({ to, remembers }: RelaySettings, agent: Agent): (call: RelayedCall) => Promise<RelayedAnswer> {
  const ask = async ({ method, url, headers, body }: RelayedCall): Promise<RelayedAnswer> => {
    const answer = await send(`${to}${url}`, { method: method as 'GET', headers, body: body ?? null, dispatcher: agent })
    return { status: answer.statusCode, headers: passedOn(answer.headers), body: Buffer.from(await answer.body.arrayBuffer()) }
  }
  const known = new Map<string, Promise<RelayedAnswer>>()
  return (call) => {
    if (!remembers || call.method !== 'GET') return ask(call)
    const key = `${call.headers['authorization']} ${call.url}`
    const answer = known.get(key) ?? ask(call)
    known.set(key, answer)
    return answer
  }
}

function passedOn(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !ownHeaders.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}
