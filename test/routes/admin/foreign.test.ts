import { expect, it } from 'vitest'
import { createForeign } from '../../../src/admin/admin.ts'

const isForeign = createForeign(['0.0.0.0', 'Crosswalk.internal'])
const HOST = '127.0.0.1:8081'

it.each(['localhost', 'LOCALHOST:8081', HOST, '10.1.2.3', '[::1]:8081', '[fd00::1]', 'crosswalk.internal', 'CROSSWALK.INTERNAL:9'])(
  'accepts the name %s',
  (host) => expect(isForeign({ url: '/modes', headers: { host } })).toBeUndefined(),
)

it.each([
  ...['evil.example', 'evil.example:8081', 'localhost.evil.example', '127.0.0.1.evil.example', 'xlocalhost', 'a.crosswalk.internal'],
  ...['', ':8081', 'localhost:', 'localhost:x', 'localhost:1:2', 'a@localhost', 'localhost/', '[localhost]', '[::1', '::1', '0x7f.1', '1'],
])('refuses the name %j, and says where names are listed', (host) => {
  expect(isForeign({ url: '/modes', headers: { host } })).toMatchObject({
    code: 'PERMISSION_DENIED',
    message: `the admin port does not go by the name ${JSON.stringify(host)}; list its names in admin.names (CROSSWALK_ADMIN_NAMES)`,
  })
})

it('accepts a request without a name, which only HTTP/1.0 has and no browser sends', () => {
  expect(isForeign({ url: '/healthz', headers: {} })).toBeUndefined()
  expect(isForeign({ url: '/healthz', headers: { origin: 'http://evil.example' } })).toMatchObject({ code: 'PERMISSION_DENIED' })
})

it.each([
  { origin: `http://${HOST}` },
  { origin: `https://${HOST.toUpperCase()}` },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
])('accepts its own page and a typed address: %j', (headers) => {
  expect(isForeign({ url: '/modes', headers: { host: HOST, ...headers } })).toBeUndefined()
})

it.each([
  ...['null', '', 'http://evil.example', 'http://127.0.0.1', 'http://127.0.0.1:3000', 'http://localhost:8081'].map((origin) => ({
    origin,
  })),
  ...[`http://${HOST}@evil.example`, `http://evil.example/${HOST}`, `chrome-extension://${HOST}`, HOST].map((origin) => ({ origin })),
  ...['cross-site', 'same-site', 'else', ''].map((site) => ({ 'sec-fetch-site': site })),
])('refuses other pages: %j', (headers) => {
  expect(isForeign({ url: '/modes', headers: { host: HOST, ...headers } })).toMatchObject({ code: 'PERMISSION_DENIED' })
})

it.each(['http://127.0.0.1:8081/modes', 'HTTP://localhost/modes', 'data:x', 'evil:/modes'])(
  'refuses a target that is not a path: %s',
  (url) => {
    expect(isForeign({ url, headers: { host: HOST } })).toMatchObject({ code: 'INVALID_ARGUMENT' })
  },
)

it('refuses two Host headers, whichever comes first', () => {
  const rawHeaders = ['Host', HOST, 'host', 'evil.example']
  expect(isForeign({ url: '/modes', headers: { host: HOST }, rawHeaders })).toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(isForeign({ url: '/modes', headers: { host: HOST }, rawHeaders: ['accept', 'host', 'Host', HOST] })).toBeUndefined()
})

const LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

it('accepts a link from anywhere to what may be linked to, and to nothing else', () => {
  const headers = { host: HOST, ...LINK }
  expect(isForeign({ url: '/report', headers }, true)).toBeUndefined()
  expect(isForeign({ url: '/modes', headers })).toMatchObject({ code: 'PERMISSION_DENIED' })
})

it.each([
  { 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-mode': 'no-cors' },
  { origin: 'http://evil.example' },
  { host: 'evil.example' },
])('takes no other request for a link: %j', (headers) => {
  expect(isForeign({ url: '/report', headers: { host: HOST, ...LINK, ...headers } }, true)).toMatchObject({ code: 'PERMISSION_DENIED' })
})
