import type { Kind } from '../../garden/server.ts'
import { nginxFile } from './nginx-file.ts'

const CODE = `
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
export const nginxNjs: Kind = {
  name: 'nginx-njs',
  program: 'nginx',
  files: (place) => ({
    'nginx.conf': nginxFile(place, {
      modules: ['ngx_http_js_module'],
      http: `js_path ${place.directory}; js_import rename.js;`,
      content: 'js_content rename.translate;',
    }),
    'rename.js': CODE,
  }),
  argv: ({ directory }) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr'],
}
