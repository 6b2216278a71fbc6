import { type Kind, nginxOf, type Place } from '../garden/servers.ts'

/**
 * The rename of a page in Lua, for any JSON library: v2's names become v1's in answers, and the other way in bodies. A list keeps the
 * metatable by which some libraries know an empty one.
 */
export const RENAME = `
local V1 = { uid = 'group', accountAssociations = 'items', createTime = 'created_at', updateTime = 'updated_at', tenantId = 'tenant_id',
  clientIds = 'client_ids', appInstallations = 'app_installations', installationId = 'installation_id' }
local V2 = {}
for v2, v1 in pairs(V1) do V2[v1] = v2 end

local function path_of_v2(path)
  return (path:gsub('/v1/account_associations', '/v2/accountAssociations', 1))
end

local function renamed(value, names)
  if type(value) ~= 'table' then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, member in pairs(value) do copy[names[key] or key] = renamed(member, names) end
  return copy
end
`

/** dkjson is written in Lua alone: the Lua of Envoy loads no library of C. */
const CODE = `
package.path = package.path .. ';/usr/share/lua/5.1/?.lua'
local json = require 'dkjson'
${RENAME}
local function rewrite(handle, names)
  local body = handle:body()
  if not body or body:length() == 0 then return end
  local value = json.decode(body:getBytes(0, body:length()), 1, json.null)
  handle:headers():replace('content-length', body:setBytes(json.encode(renamed(value, names))))
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local path = headers:get(':path')
  if not path:find('/v1/', 1, true) then return end
  headers:replace(':path', path_of_v2(path))
  headers:remove('accept-encoding')
  if headers:get(':method') == 'PUT' then headers:replace(':method', 'PATCH') end
  rewrite(handle, V2)
end

function envoy_on_response(handle)
  if handle:headers():get(':status') == '200' then rewrite(handle, V1) end
end
`

const TYPE = 'type.googleapis.com/envoy.extensions.filters'

/** Envoy with its filter for Lua. */
export const envoy: Kind = {
  name: 'envoy',
  program: 'envoy',
  files: ({ port, upstream }) => ({ 'envoy.json': JSON.stringify(bootstrap(port, upstream)) }),
  argv: ({ directory }) => ['-c', `${directory}/envoy.json`, '--concurrency', '1', '-l', 'error', '--use-dynamic-base-id'],
}

function bootstrap(port: number, upstream: number) {
  const address = (number: number) => ({ socket_address: { address: '127.0.0.1', port_value: number } })
  const filters = [
    { name: 'lua', typed_config: { '@type': `${TYPE}.http.lua.v3.Lua`, default_source_code: { inline_string: CODE } } },
    { name: 'router', typed_config: { '@type': `${TYPE}.http.router.v3.Router` } },
  ]
  const manager = {
    '@type': `${TYPE}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'v1',
    http_filters: filters,
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'v2' } }] }] },
  }
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(upstream) } }] }]
  return {
    static_resources: {
      listeners: [{ name: 'v1', address: address(port), filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }] }],
      clusters: [{ name: 'v2', connect_timeout: '2s', type: 'STATIC', load_assignment: { cluster_name: 'v2', endpoints } }],
    },
  }
}

/** Translates by `content` what is below `/…/v1/` and passes the rest on. `content` asks v2 by a subrequest to `/upstream/…`. */
const translating = ({ upstream }: Place, modules: readonly string[], http: string, content: string) => ({
  modules,
  http: `subrequest_output_buffer_size 1m; ${http}`,
  server: `location ~ ^/[a-z]+/v1/ { ${content} }
    location ~ ^/upstream(/.*)$ {
      internal;
      proxy_pass http://127.0.0.1:${upstream}$1$is_args$args;
      proxy_set_header Accept-Encoding '';
    }
    location / { proxy_pass http://127.0.0.1:${upstream}; }`,
})

const NGINX_LUA_CODE = `
local cjson = require 'cjson'
${RENAME}
local method = ngx.req.get_method()
ngx.req.read_body()
local body = ngx.req.get_body_data()
if body then body = cjson.encode(renamed(cjson.decode(body), V2)) end
local answer = ngx.location.capture('/upstream' .. path_of_v2(ngx.var.uri), {
  method = ngx['HTTP_' .. (method == 'PUT' and 'PATCH' or method)],
  args = ngx.var.args,
  body = body,
})
ngx.status = answer.status
ngx.header['content-type'] = answer.header['content-type']
if answer.status ~= 200 then return ngx.print(answer.body) end
ngx.print(cjson.encode(renamed(cjson.decode(answer.body), V1)))
`

/** nginx with Lua and cjson: what Kong, APISIX and OpenResty run their transformations with. */
export const nginxLua = nginxOf(
  'nginx-lua',
  (place) =>
    translating(
      place,
      ['ndk_http_module', 'ngx_http_lua_module'],
      "lua_package_cpath '/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;/usr/lib/aarch64-linux-gnu/lua/5.1/?.so;;';",
      `content_by_lua_file ${place.directory}/rename.lua;`,
    ),
  { 'rename.lua': NGINX_LUA_CODE },
)

const NGINX_NJS_CODE = `
const V1 = { uid: 'group', accountAssociations: 'items', createTime: 'created_at', updateTime: 'updated_at', tenantId: 'tenant_id',
  clientIds: 'client_ids', appInstallations: 'app_installations', installationId: 'installation_id' }
const V2 = {}
Object.keys(V1).forEach((v2) => { V2[V1[v2]] = v2 })

function renamed(value, names) {
  if (Array.isArray(value)) return value.map((row) => renamed(row, names))
  if (value === null || typeof value !== 'object') return value
  const copy = {}
  Object.keys(value).forEach((key) => { copy[names[key] || key] = renamed(value[key], names) })
  return copy
}

async function translate(request) {
  const method = request.method === 'PUT' ? 'PATCH' : request.method
  const body = request.requestText ? JSON.stringify(renamed(JSON.parse(request.requestText), V2)) : undefined
  const args = request.variables.args || ''
  const path = request.uri.replace('/v1/account_associations', '/v2/accountAssociations')
  const answer = await request.subrequest('/upstream' + path, { method, args, body })
  request.headersOut['content-type'] = answer.headersOut['content-type']
  if (answer.status !== 200) return request.return(answer.status, answer.responseText)
  request.return(200, JSON.stringify(renamed(JSON.parse(answer.responseText), V1)))
}

export default { translate }
`

/** nginx with njs, its own JavaScript. */
export const nginxNjs = nginxOf(
  'nginx-njs',
  (place) => translating(place, ['ngx_http_js_module'], `js_path ${place.directory}; js_import rename.js;`, 'js_content rename.translate;'),
  { 'rename.js': NGINX_NJS_CODE },
)
