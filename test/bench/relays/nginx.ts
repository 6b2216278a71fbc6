import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, PROXY_CORE, start } from '../child.ts'

export const hasNginx = () => spawnSync('nginx', ['-v']).status === 0

/** What nginx does with all that it receives. */
export interface NginxWay {
  /** Words after the address that it listens on. */
  readonly listen: string
  /** The directives of its server; `v2` is the service. */
  readonly server: string
  /** Directives before all others. */
  readonly main?: string
  /** Directives of the part `http`. */
  readonly http?: string
  /** Contents of files beside its configuration, by their names. */
  readonly files?: Readonly<Record<string, string>>
}

/** Passes a request on over a kept connection of HTTP/1.1. */
export const PASSED = 'proxy_pass http://v2; proxy_http_version 1.1; proxy_set_header Connection "";'

export const OVER_HTTP1: NginxWay = { listen: '', server: `location / { ${PASSED} }` }

export const OVER_GRPC: NginxWay = { listen: ' http2', server: 'location / { grpc_pass grpc://v2; }' }

let started = 0

/** Starts nginx with one worker in front of a service. */
export function startNginx(
  upstream: string,
  { listen, server, main = '', http = '', files = {} }: NginxWay,
  core = PROXY_CORE,
): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'))
  // nginx drops root's rights, and its worker reads scripts.
  chmodSync(folder, 0o755)
  // Several run at once, and nginx cannot choose a port. Systems give ports from 32768 to outgoing connections.
  const port = 20_000 + ((process.pid * 10 + (started % 10)) % 12_000)
  started += 1
  const config = `${main} daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
      events { worker_connections 1024; }
      http { access_log off; keepalive_requests 100000000; ${http}
        upstream v2 { server ${upstream.slice('http://'.length)}; keepalive 64; keepalive_requests 100000000; }
        server { listen 127.0.0.1:${port}${listen}; ${server} } }`
  for (const [name, text] of Object.entries({ ...files, 'nginx.conf': config })) writeFileSync(join(folder, name), text)
  // nginx prints nothing when it is ready, so a shell prints a line once the port is open.
  const script = `nginx -p ${folder} -c ${folder}/nginx.conf & until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do :; done; echo http://127.0.0.1:${port}; wait`
  return start(core, ['bash', '-c', `trap 'kill %1' TERM; ${script}`])
}
