import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Load, LoadOptions } from '../load.ts'
import { hasNginx } from '../relays/nginx.ts'

/**
 * A load and an upstream that take a fraction of what a proxy takes: wrk and nginx. On two cores they leave room for two workers, which the
 * load and the upstream of the other rows do not.
 */
export const hasLightLoad = () => hasNginx() && spawnSync('wrk', ['-v']).error === undefined

/** Returns the processor time of all programs that this process has waited for, such as wrk, in milliseconds. */
export function waitedForMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  // The name of the program, in brackets, may hold spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
  return (Number(user) + Number(system)) * TICK_MS
}

/** Linux tells programs of a hundred ticks a second. */
const TICK_MS = 10

const run = promisify(execFile)

/** Keeps clients busy as `load` does, each a caller of its own. Throws if an answer is not a 200. */
export async function lightLoad({ url, path, connections, ms }: LoadOptions): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'))
  const script = join(folder, 'callers.lua')
  writeFileSync(script, scriptOf(path, connections))
  const seconds = `${Math.max(1, Math.round(ms / 1000))}s`
  const { stdout } = await run('wrk', ['-t', '1', '-c', String(connections), '-d', seconds, '-s', script, url])
  const [, told = '{}'] = /^told (.+)$/m.exec(stdout) ?? []
  const { requests, micros, failed, p50, p99 } = JSON.parse(told) as Readonly<Record<string, number>>
  if (requests === undefined || micros === undefined || failed !== 0) throw new Error(`wrk printed: ${stdout}`)
  return { perSecond: requests / (micros / 1e6), p50: (p50 ?? Number.NaN) / 1000, p99: (p99 ?? Number.NaN) / 1000 }
}

/** wrk asks for each request in turn and prints what `done` writes; its times are in microseconds. */
function scriptOf(path: string, callers: number): string {
  return `
local requests, at = {}, 0
function init()
  for caller = 1, ${callers} do
    requests[caller] = wrk.format("GET", "${path}", { ["accept"] = "application/json", ["authorization"] = "Bearer caller-" .. caller })
  end
end
function request()
  at = at % ${callers} + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('told {"requests":%d,"micros":%d,"failed":%d,"p50":%f,"p99":%f}',
    summary.requests, summary.duration, failed, latency:percentile(50), latency:percentile(99)))
end
`
}
