import type { Kind } from '../../garden/server.ts'
import { nginxFile } from './nginx-file.ts'
import { RENAME } from './rename-lua.ts'

const CODE = `
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
export const nginxLua: Kind = {
  name: 'nginx-lua',
  program: 'nginx',
  files: (place) => ({
    'nginx.conf': nginxFile(place, {
      modules: ['ndk_http_module', 'ngx_http_lua_module'],
      http: "lua_package_cpath '/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;/usr/lib/aarch64-linux-gnu/lua/5.1/?.so;;';",
      content: `content_by_lua_file ${place.directory}/rename.lua;`,
    }),
    'rename.lua': CODE,
  }),
  argv: ({ directory }) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr'],
}
