import { existsSync, readFileSync, rmSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Agent, request as send } from 'undici'
import type { Config } from '../../../src/app/config/settings.ts'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Comparison, Entry } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { identify } from '../../../src/serve/request.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { until } from '../../stage/clocks.ts'
import { listening, temporaryFolder } from '../../stage/programs.ts'
import { startProxy } from '../../stage/stage.ts'

/** Returns the comparisons among recorded entries, by the hash of their callers. */
export function byCaller(entries: readonly Entry[]): ReadonlyMap<string, readonly Comparison[]> {
  const found = new Map<string, Comparison[]>()
  for (const entry of entries) {
    if (entry.kind !== 'comparison') continue
    found.set(entry.caller, [...(found.get(entry.caller) ?? []), entry])
  }
  return found
}

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

export interface RelaySettings {
  /** The service. */
  readonly to: string
  readonly senderOf: (authorization: string | undefined) => Sender | undefined
  /** Answers each GET of the same token from memory after the first time. Only for data that nobody writes. */
  readonly remembers: boolean
}

const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'date', 'accept-encoding'])

/** Starts a relay before one service, on a free port of this machine. */
export async function startRelay(settings: RelaySettings) {
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
  return {
    url: (await listening(server)).url,
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

/** A demo user of the sandbox. */
export type Role = keyof Sandbox['tokens']

/** What a client gets. */
export interface Received {
  readonly status: number
  readonly type: string | undefined
  readonly text: string
}

/** Asks past Crosswalk. */
export async function receive(url: string, headers: Readonly<Record<string, string>>): Promise<Received> {
  const answer = await fetch(url, { headers })
  return { status: answer.status, type: answer.headers.get('content-type') ?? undefined, text: await answer.text() }
}

/** How a caller is made. Without a spoil, a side answers as it is. */
export interface CallerOptions {
  /** The default is the owner. */
  readonly role?: Role
  readonly v1?: Spoil
  readonly v2?: Spoil
}

export interface DifferSettings {
  readonly sandbox: Sandbox
  /** In mode v2 there is no v1 behind Crosswalk. */
  readonly mode: Mode
  /** Rules beside the mode. */
  readonly rules?: ModeRules['rules']
  /** Nobody writes, so that relays may answer from memory. */
  readonly atRest?: boolean
  readonly config?: Partial<Config>
  /** Replicas that share a store, of which callers use one after the other; 1 unless it is given. */
  readonly replicas?: number
}

/** Nothing is dropped, and every operation is answered by the side of its mode. */
const EVERYTHING: Partial<Config> = {
  emulated: 'v2',
  'diff.waiting': 1_000_000,
  'diff.perSecond': 0,
  'diff.parallel': 16,
  'fallback.perMinute': 1_000_000,
  'records.values': 'shown',
  'records.bytes': 2 ** 30,
  'log.level': 'error',
}

/** Only v1 has this read, and every demo user may make it. */
const INTRODUCTION = '/registry/v1/vuln_reports/counts?repo=none'

let callers = 0

/** The sandbox, a relay before its v1, another before its v2, and Crosswalk in front of both. */
export type Differ = Awaited<ReturnType<typeof startDiffer>>

/** One caller with a token of its own, so that its records are found by its hash. */
export type OneCaller = ReturnType<Differ['caller']>

/** Starts the relays and Crosswalk on free ports. The sandbox stays the caller's own. */
export async function startDiffer({ sandbox, mode, rules = [], atRest = false, config = {}, replicas = 1 }: DifferSettings) {
  const folder = temporaryFolder('differ')
  const senders = { v1: new Map<string, Sender>(), v2: new Map<string, Sender>() }
  const before = (side: 'v1' | 'v2') => {
    const senderOf = (authorization = '') => senders[side].get(authorization)
    return startRelay({ to: sandbox.url, senderOf, remembers: atRest })
  }
  const [v1, v2] = await Promise.all([before('v1'), before('v2')])
  const modes: ModeRules = { ...ALL_V2, default: mode, rules }
  const memory = createMemory(Date.now)
  const start = async (nth: number) => {
    const file = join(folder.path, `records-${nth}.ndjson`)
    const settings = {
      'upstream.v2': v2.url,
      ...(mode !== 'v2' && { 'upstream.v1': v1.url, modes }),
      'records.file': file,
      ...EVERYTHING,
      ...config,
    }
    return { file, proxy: await startProxy(settings, replicas > 1 ? { join: joinFleet(memory.open()) } : {}) }
  }
  const all = await Promise.all(Array.from({ length: replicas }, (_, nth) => start(nth)))
  const { file, proxy } = all[0]!
  const agent = new Agent({ connections: 64 })
  const settled = async () => void (await Promise.all(all.map((one) => one.proxy.idle())))
  let marks = 0
  const entriesIn = (text: string) => (text === '' ? [] : text.trimEnd().split('\n')).map((line) => JSON.parse(line) as Entry)
  const end = async () => void (await Promise.all(all.map((one) => one.proxy.close())))
  return {
    /** The first replica. */
    proxy,
    /** The admin ports of all replicas. */
    adminUrls: all.map((one) => one.proxy.adminUrl),
    /** The files of records, of the first replica and of all. */
    file,
    files: all.map((one) => one.file),
    /** Ends the replicas, so that their records are whole. */
    end,
    /** Makes a caller. Both sides know its token as that of its role. */
    caller({ role = 'owner', v1: spoilV1, v2: spoilV2 }: CallerOptions = {}) {
      callers += 1
      const own = `differ-${callers}`
      const authorization = `Bearer ${own}`
      const token = sandbox.tokens[role]
      senders.v1.set(authorization, { token, spoil: spoilV1, sent: new Map() })
      senders.v2.set(authorization, { token, spoil: spoilV2, sent: new Map() })
      const replica = callers % replicas
      const { url } = all[replica]?.proxy ?? proxy
      const ask = sending(url, authorization, agent)
      return {
        /** The hash under which Crosswalk records this caller. */
        hash: identify(authorization).caller,
        /** The token that Crosswalk gets. */
        token: own,
        /** The number of the replica that it uses, from 0, and the address of that. */
        replica,
        url,
        send: ask,
        /** Sends a request that v1 alone answers and accepts, so that further ones of this caller count. */
        introduce: async () => void (await ask('GET', INTRODUCTION)),
      }
    },
    /** Resolves when no comparison waits or runs. */
    settled,
    /**
     * Returns the comparisons that the only replica recorded since the last time, by the hash of their callers. It closes every circuit, and
     * waits until settled.
     */
    async records() {
      await settled()
      marks += 1
      // A line of the file whose predecessors are all there.
      const mark = `mark ${marks}`
      proxy.changeModes(modes, { source: 'file', path: mark })
      const text = await until(async () => {
        const written = readFileSync(file, 'utf8')
        return written.includes(`"text":"file ${mark}: `) && written.endsWith('\n') && written
      })
      rmSync(file)
      return byCaller(entriesIn(text))
    },
    /** Ends everything, and returns the comparisons that all replicas recorded since the last time. */
    async close() {
      await end()
      await Promise.all([v1.close(), v2.close(), agent.destroy()])
      const texts = all.map((one) => (existsSync(one.file) ? readFileSync(one.file, 'utf8') : ''))
      folder.remove()
      return byCaller(texts.flatMap(entriesIn))
    },
  }
}

function sending(url: string, authorization: string, agent: Agent) {
  return async (method: string, path: string, body?: unknown): Promise<Received> => {
    const answer = await send(url + path, {
      method: method as 'GET',
      headers: { authorization },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: agent,
    })
    return { status: answer.statusCode, type: answer.headers['content-type']?.toString(), text: await answer.body.text() }
  }
}

export const COMPARING = ['diff-v1', 'diff-v2'] as const
export type Comparing = (typeof COMPARING)[number]

export type EachMode = Awaited<ReturnType<typeof startEachMode>>

/** Starts a Crosswalk for each mode in front of one sandbox, and one without v1: what clients would see. */
export async function startEachMode(options: Omit<DifferSettings, 'mode'>) {
  const oracle = await startDiffer({ ...options, mode: 'v2' })
  const comparing = {
    'diff-v1': await startDiffer({ ...options, mode: 'diff-v1' }),
    'diff-v2': await startDiffer({ ...options, mode: 'diff-v2' }),
  }
  return {
    oracle,
    comparing,
    /** Closes all of them, and the sandbox. */
    async close() {
      await Promise.all([oracle, ...Object.values(comparing)].map((differ) => differ.close()))
      await options.sandbox.close()
    },
  }
}
