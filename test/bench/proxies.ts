import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, LOAD_CORE, PROXY_CORE, start } from './child.ts'

const here = (file: string) => new URL(file, import.meta.url).pathname
/** The folder of this checkout. */
export const CHECKOUT = here('..')

const programOf = (checkout: string) => join(checkout, 'dist/src/cli.js')

/** Node and its flags as the container image of a checkout starts them. Peers are started with plain `node`, as their users do. */
function nodeOf(checkout: string): readonly string[] {
  const [, command = ''] = /^ENTRYPOINT (.+)$/m.exec(readFileSync(join(checkout, 'docker/Dockerfile'), 'utf8')) ?? []
  return (JSON.parse(command) as string[]).slice(0, -1)
}

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
}

/** Starts Crosswalk as its image does, without its log lines. */
export function startCrosswalk(upstream: string, { probe = false, env = {}, checkout = CHECKOUT }: CrosswalkOptions = {}): Promise<Child> {
  const node = [...nodeOf(checkout), ...(probe ? ['--import', here('probe.js')] : [])]
  const flags = ['--port', '0', '--admin-port', '0', '--log-level', 'error', '--upstream-v2', upstream]
  return start(PROXY_CORE, [...node, programOf(checkout), 'serve', ...flags], env)
}

/** A compared proxy and its request: v1 for Crosswalk, and the same in v2 for proxies that only pass it on. */
export interface Contestant {
  readonly name: string
  readonly translates: boolean
  start(upstream: string): Promise<Child>
}

/** Starts another proxy. `bare` is the least that translating one resource costs. */
function peer(name: string, translates = false): Contestant {
  return { name, translates, start: (upstream) => start(PROXY_CORE, ['node', here('peer.js'), name, upstream]) }
}

export const BARE = peer('bare', true)

export function contestants(): readonly Contestant[] {
  const crosswalk = { name: 'crosswalk', translates: true, start: (upstream: string) => startCrosswalk(upstream) }
  return [peer(BASELINE), crosswalk, peer('http-proxy-3'), ...(hasNginx() ? [nginx] : [])]
}

const hasNginx = () => spawnSync('nginx', ['-v']).status === 0

const nginx: Contestant = {
  name: 'nginx',
  translates: false,
  start(upstream) {
    const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'))
    const port = 20_000 + (process.pid % 20_000)
    const config = `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
      events { worker_connections 1024; }
      http { access_log off; keepalive_requests 100000000; upstream v2 { server ${upstream.slice('http://'.length)}; keepalive 64; keepalive_requests 100000000; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://v2; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`
    writeFileSync(join(folder, 'nginx.conf'), config)
    // nginx prints nothing when it is ready, so a shell prints a line once the port is open.
    const script = `nginx -p ${folder} -c ${folder}/nginx.conf & until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do :; done; echo http://127.0.0.1:${port}; wait`
    return start(PROXY_CORE, ['bash', '-c', `trap 'kill %1' TERM; ${script}`])
  },
}
