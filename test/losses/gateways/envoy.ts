import type { Kind } from '../../garden/server.ts'
import { RENAME } from './rename-lua.ts'

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
