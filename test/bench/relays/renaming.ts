import { existsSync } from 'node:fs'
import { type NginxWay, PASSED } from './nginx.ts'

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
