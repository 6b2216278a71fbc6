import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, PROXY_CORE, start } from '../child.ts'
import { atLeast, type Figure, median } from '../report.ts'

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

/**
 * nginx with a script that renames the members of tags, as gateways with a transformation in Lua or JavaScript do it. The scripts know the
 * two requests of the benchmark and nothing else of v1.
 */
interface Renaming {
  readonly name: string
  readonly modules: readonly string[]
  readonly way: Omit<NginxWay, 'main' | 'listen'>
}

/** A script asks v2 by a subrequest. */
const UPSTREAM = `subrequest_output_buffer_size 1m; location /upstream/ { internal; rewrite ^/upstream(.*)$ $1 break; ${PASSED} }`

const LUA = `
local cjson = require 'cjson'
local NAMES = { uid = 'id', tags = 'items', updateTime = 'last_updated' }

local function renamed(value)
  if type(value) ~= 'table' then return value end
  local copy = {}
  for name, member in pairs(value) do copy[NAMES[name] or name] = renamed(member) end
  copy.updated_at = copy.last_updated
  return copy
end

local id = ngx.var.arg_id
local answer = ngx.location.capture('/upstream/registry/v2/tags' .. (id and '/' .. id or ''), { args = id and '' or 'page_size=200' })
local value = renamed(cjson.decode(answer.body))
ngx.header['content-type'] = 'application/json'
ngx.print(cjson.encode(id and { items = { value } } or { items = value.items }))
`

const JAVASCRIPT = `
const NAMES = { uid: 'id', updateTime: 'last_updated' }

function renamed(row) {
  const copy = {}
  Object.keys(row).forEach((name) => { copy[NAMES[name] || name] = row[name] })
  copy.updated_at = copy.last_updated
  return copy
}

async function translate(request) {
  const id = request.args.id
  const args = id ? '' : 'page_size=200'
  const answer = await request.subrequest('/upstream/registry/v2/tags' + (id ? '/' + id : ''), { args })
  const value = JSON.parse(answer.responseText)
  const rows = id ? [value] : value.tags
  request.headersOut['content-type'] = 'application/json'
  request.return(200, JSON.stringify({ items: rows.map(renamed) }))
}

export default { translate }
`

const RENAMINGS: readonly Renaming[] = [
  {
    name: 'nginx + Lua',
    modules: ['ndk_http_module', 'ngx_http_lua_module'],
    way: {
      http: "lua_package_cpath '/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;/usr/lib/aarch64-linux-gnu/lua/5.1/?.so;;';",
      server: `${UPSTREAM} location / { content_by_lua_file rename.lua; }`,
      files: { 'rename.lua': LUA },
    },
  },
  {
    name: 'nginx + njs',
    modules: ['ngx_http_js_module'],
    way: {
      http: 'js_import rename.js;',
      server: `${UPSTREAM} location / { js_content rename.translate; }`,
      files: { 'rename.js': JAVASCRIPT },
    },
  },
]

const fileOf = (module: string) => `/usr/lib/nginx/modules/${module}.so`

/** Returns the ways whose modules Debian's packages have installed, and prints the names of the others. */
export function renamings(): readonly { readonly name: string; readonly way: NginxWay }[] {
  const [here, missing] = [true, false].map((wanted) => RENAMINGS.filter(({ modules }) => modules.map(fileOf).every(existsSync) === wanted))
  for (const { name, modules } of missing ?? []) process.stderr.write(`${name} has no row: ${modules.join(' and ')} are not installed\n`)
  return (here ?? []).map(({ name, modules, way }) => ({
    name,
    way: { ...way, listen: '', main: modules.map((module) => `load_module ${fileOf(module)};`).join(' ') },
  }))
}

/** What one way to a service reaches in one round. */
export interface RelayFigures {
  readonly callsPerSecond: number
  /** CPU time of the relay for one of them, in microseconds; 0 without a relay. */
  readonly cpu: number
  /** The same of client and service together. */
  readonly others: number
  readonly p50: number
  readonly p99: number
  readonly mebibytesPerSecond: number
}

type AllFigures = ReadonlyMap<string, readonly RelayFigures[]>

const ROWS: readonly (readonly [what: string, unit: string, of: keyof RelayFigures])[] = [
  ['unary calls', '/s', 'callsPerSecond'],
  ['processor time of the relay a call', 'µs', 'cpu'],
  ['of client and service, on one core', 'µs', 'others'],
  ['one call alone, median', 'µs', 'p50'],
  ['one call alone, 99th percentile', 'µs', 'p99'],
  ['stream of messages', 'MiB/s', 'mebibytesPerSecond'],
]

const line = (first: string, cells: readonly string[]) => `${first.padEnd(38)}${cells.map((cell) => cell.padStart(14)).join('')}\n`

/** A table with a column for each way, and the ratios of their calls a second. */
export function relayTable(figures: AllFigures): string {
  const names = [...figures.keys()]
  const rows = ROWS.map(([what, unit, of]) => {
    const medians = [...figures.values()].map((rounds) => median(rounds.map((round) => round[of])))
    return line(
      what,
      medians.map((value) => `${Math.round(value)} ${unit}`),
    )
  })
  const direct = names.slice(1).map((name) => [name, 'direct'] as const)
  const pairs = [...direct, ['Crosswalk', 'bare'] as const]
  const ratios = pairs.map(([a, b]) => line(`calls a second, ${a} ÷ ${b}`, [`${ratio(figures.get(a), figures.get(b)).toFixed(2)} ×`]))
  return [line('', names), ...rows, ...ratios].join('')
}

/** The calls a second of Crosswalk's relay beside a direct connection, and their bound. */
export function relayMark(figures: AllFigures): Figure {
  return atLeast(11, 'calls a second, Crosswalk ÷ direct', ratio(figures.get('Crosswalk'), figures.get('direct')), '×', 0.6)
}

/** The median of the ratios of the rounds: a busy machine slows both of a round. */
function ratio(a: readonly RelayFigures[] = [], b: readonly RelayFigures[] = []): number {
  return median(a.map(({ callsPerSecond }, round) => callsPerSecond / (b[round]?.callsPerSecond ?? 0)))
}
