import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../stage/free-port.ts'
import { until } from '../stage/until.ts'

const SHIPPED = 'docker/nginx'

/** False, with a printed reason, if nginx is missing. */
export function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('SKIPPED: nginx is not installed')
    return false
  }
}

/** Replaces texts of the shipped files on this machine. Each text must occur. */
export type Changes = Readonly<Record<string, readonly (readonly [shipped: string, here: string])[]>>

export interface Nginx {
  readonly url: string
  /** Where gRPC goes. */
  readonly rpcUrl: string
  /** The output of `nginx -t`. */
  readonly test: string
  stop(): Promise<void>
}

/** Runs this machine's nginx on the shipped files. Only addresses and the given texts are changed. */
export async function startNginx(crosswalk: readonly [number, number], v1: string, changes: Changes = {}): Promise<Nginx> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-nginx-'))
  const port = await freePort()
  const rpcPort = await freePort()
  const here: Changes = {
    'nginx.conf': [
      ['/tmp/nginx', join(directory, 'nginx')],
      ['listen 8000;', `listen 127.0.0.1:${port};`],
      ['listen 8001 http2;', `listen 127.0.0.1:${rpcPort} http2;`],
      ['access_log /dev/stdout', `access_log ${directory}/access.log`],
    ],
    'upstreams.conf': [
      ['crosswalk-1:8080', `127.0.0.1:${crosswalk[0]}`],
      ['crosswalk-2:8080', `127.0.0.1:${crosswalk[1]}`],
      ['v1:8090', new URL(v1).host],
    ],
  }
  for (const name of readdirSync(SHIPPED)) {
    const edits = [...(here[name] ?? []), ...(changes[name] ?? [])]
    writeFileSync(join(directory, name), edits.reduce(replaced(name), readFileSync(join(SHIPPED, name), 'utf8')))
  }
  // Workers of a master that runs as root could not read the directory.
  const global = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  const argv = ['-c', join(directory, 'nginx.conf'), '-e', 'stderr']
  const test = spawnText('nginx', [...argv, ...global, '-t'])
  const child = spawn('nginx', [...argv, '-g', `${global[1] ?? ''} daemon off;`], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(url)).status > 0, 'nginx answers')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  return { url, rpcUrl: `http://127.0.0.1:${rpcPort}`, test, stop }
}

const replaced =
  (name: string) =>
  (text: string, [shipped, here]: readonly [string, string]) => {
    if (!text.includes(shipped)) throw new Error(`${SHIPPED}/${name} does not contain "${shipped}"`)
    return text.replaceAll(shipped, here)
  }

/** `nginx -t` writes to standard error. */
function spawnText(program: string, argv: readonly string[]): string {
  return execFileSync('sh', ['-c', '"$0" "$@" 2>&1', program, ...argv], { encoding: 'utf8' })
}
