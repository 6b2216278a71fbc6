import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, PROXY_CORE, start } from '../child.ts'

export const hasNginx = () => spawnSync('nginx', ['-v']).status === 0

/** What nginx does with all that it receives. */
interface NginxWay {
  /** Words after the address that it listens on. */
  readonly listen: string
  /** The directives of its one location; `v2` is the service. */
  readonly location: string
}

export const OVER_HTTP1: NginxWay = {
  listen: '',
  location: 'proxy_pass http://v2; proxy_http_version 1.1; proxy_set_header Connection "";',
}

export const OVER_GRPC: NginxWay = { listen: ' http2', location: 'grpc_pass grpc://v2;' }

/** Starts nginx with one worker in front of a service. */
export function startNginx(upstream: string, { listen, location }: NginxWay, core = PROXY_CORE): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'))
  const port = 20_000 + (process.pid % 20_000)
  const config = `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
      events { worker_connections 1024; }
      http { access_log off; keepalive_requests 100000000; upstream v2 { server ${upstream.slice('http://'.length)}; keepalive 64; keepalive_requests 100000000; }
        server { listen 127.0.0.1:${port}${listen}; location / { ${location} } } }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  // nginx prints nothing when it is ready, so a shell prints a line once the port is open.
  const script = `nginx -p ${folder} -c ${folder}/nginx.conf & until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do :; done; echo http://127.0.0.1:${port}; wait`
  return start(core, ['bash', '-c', `trap 'kill %1' TERM; ${script}`])
}
