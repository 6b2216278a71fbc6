import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, LOAD_CORE, PROXY_CORE, pinned, start } from './child.ts'
import { hasNginx, OVER_HTTP1, renamings, startNginx } from './relays/renaming.ts'

const here = (file: string) => new URL(file, import.meta.url).pathname
/** The folder of this checkout. */
export const CHECKOUT = here('..')

/** The command with which the container image of a checkout starts: node, its flags and the program. */
function entryOf(checkout: string): readonly string[] {
  const [, command = ''] = /^ENTRYPOINT (.+)$/m.exec(readFileSync(join(checkout, 'docker/Dockerfile'), 'utf8')) ?? []
  return JSON.parse(command) as string[]
}

const programOf = (checkout: string) => join(checkout, entryOf(checkout).at(-1) ?? '')

/** Peers are started with plain `node`, as their users do. */
const nodeOf = (checkout: string) => entryOf(checkout).slice(0, -1)

export const BASELINE = '@fastify/http-proxy'

export function startUpstream(rows = 0, latencyMs = 0): Promise<Child> {
  return start(LOAD_CORE, ['node', here('upstream.js'), String(rows), String(latencyMs)])
}

/** Starts a complete v2 service with demo data. */
export function startSandbox(latencyMs = 0): Promise<Child> {
  return start(LOAD_CORE, ['node', programOf(CHECKOUT), 'sandbox', '--sandbox-port', '0', '--latency', String(latencyMs)])
}

interface CrosswalkOptions {
  /** Loads the probe that measures stalls. */
  readonly probe?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** The folder of the checkout whose build is started. */
  readonly checkout?: string
  /** More flags of `serve`. */
  readonly flags?: readonly string[]
  /** Other cores than the one of a single process, as `taskset` names them: `0-1`. */
  readonly cores?: string
}

/** Starts Crosswalk as its image does, without its log lines. */
export function startCrosswalk(
  upstream: string,
  { probe = false, env = {}, checkout = CHECKOUT, flags = [], cores }: CrosswalkOptions = {},
): Promise<Child> {
  const widen = pinned && cores !== undefined ? ['taskset', '-c', cores] : []
  const node = [...widen, ...nodeOf(checkout), ...(probe ? ['--import', here('probe.js')] : [])]
  const usual = ['--port', '0', '--admin-port', '0', '--log-level', 'error', '--upstream-v2', upstream]
  return start(PROXY_CORE, [...node, programOf(checkout), 'serve', ...usual, ...flags], env)
}

/** Reads a list of this many rows as a client does that only passes pages on, on the core of a proxy. Returns the milliseconds of each. */
export function bareLists(upstream: string, rows: number, parallel: number, times: number): readonly number[] {
  const command = [process.execPath, here('relays/bare-list.js'), upstream, ...[rows, parallel, times].map(String)]
  const [file = '', ...args] = pinned ? ['taskset', '-c', String(PROXY_CORE), ...command] : command
  return JSON.parse(execFileSync(file, args, { encoding: 'utf8' })) as number[]
}

/** Starts the least that relays gRPC, with the flags of Crosswalk's Node. */
export function startBareRelay(service: string): Promise<Child> {
  return start(PROXY_CORE, [...nodeOf(CHECKOUT), here('relays/bare-relay.js'), service])
}

/** A compared proxy and its request: v1 for Crosswalk, and the same in v2 for proxies that only pass it on. */
export interface Contestant {
  readonly name: string
  readonly translates: boolean
  start(upstream: string): Promise<Child>
}

/** Starts another proxy. `bare` is the least that renaming members costs. */
function peer(name: string, translates = false): Contestant {
  return { name, translates, start: (upstream) => start(PROXY_CORE, ['node', here('peer.js'), name, upstream]) }
}

export const BARE = peer('bare', true)
export const PASSING = peer(BASELINE)

export function contestants(): readonly Contestant[] {
  return [PASSING, CROSSWALK, peer('http-proxy-3'), ...(hasNginx() ? [nginx] : [])]
}

export const CROSSWALK: Contestant = { name: 'crosswalk', translates: true, start: (upstream) => startCrosswalk(upstream) }

const nginx: Contestant = { name: 'nginx', translates: false, start: (upstream) => startNginx(upstream, OVER_HTTP1) }

/** nginx with scripts that rename members. A module that is not installed has no row. */
export function scripts(): readonly Contestant[] {
  if (!hasNginx()) return []
  return renamings().map(({ name, way }) => ({ name, translates: true, start: (upstream) => startNginx(upstream, way) }))
}
