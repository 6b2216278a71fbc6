import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, inject, it, onTestFinished } from 'vitest'
import { ANY_PORT, exit, linesUntil, start } from './started.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Tables of somebody else. They import the package, whose modules are not those inside of the program. */
const TABLES = (language: string) => `
import { get, list, readOnly, replace, resource, scope, text } from '${language}'
const item = resource('item', {
  v2: '/shop/v2/items',
  plural: 'items',
  fields: { id: readOnly('uid'), title: text('name') },
})
export const tables = {
  name: 'shop',
  mappings: [{
    domain: 'shop',
    operations: [
      get('shop.items.get', 'GET /shop/v1/items/{id=**}', item, 'error'),
      list('shop.items.list', 'GET /shop/v1/items', item, { query: scope, byId: 'id' }),
      replace('shop.items.update', 'PUT /shop/v1/items/{id=**}', item),
    ],
  }],
  differences: [],
  shapes: {},
}
`

const UIDS = ['a'.repeat(40), 'b'.repeat(40)]

const notFound = (uid = '') => ({
  code: 5,
  message: 'not found',
  details: [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo' },
    { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType: 'Item', resourceName: uid },
  ],
})

/** A service with two items. */
function startShop() {
  const items = UIDS.map((uid) => ({ uid, name: `the ${uid[0]}` }))
  const server = createServer((request, response) => {
    const [, uid] = /items\/(\w+)/.exec(request.url ?? '') ?? []
    const found = uid === undefined ? { items } : items.find((item) => item.uid === uid)
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? notFound(uid)))
  })
  return new Promise<{ url: string; close(): void }>((started) => {
    server.listen(0, '127.0.0.1', () => {
      started({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() })
    })
  })
}

it('the program serves tables that import the package', async () => {
  const path = join(folder, 'tables.mjs')
  writeFileSync(path, TABLES(pathToFileURL(resolve(inject('cli'), '../../src/tables/language.js')).href))
  const shop = await startShop()
  const child = start('serve', '--tables', path, '--upstream-v2', shop.url, '--log-level', 'silent', ...ANY_PORT.slice(0, 4))
  const ended = exit(child)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line = ''] = await linesUntil(child, () => true)
  const [url] = /http:\/\/[\d.]+:\d+/.exec(line) ?? []
  const ask = async (target: string, init?: RequestInit) => {
    const answer = await fetch(`${url}/shop/v1/items${target}`, init)
    return [answer.status, await answer.json()]
  }
  const put = (body: object) => ({ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const items = UIDS.map((id) => ({ id, title: `the ${id[0]}` }))
  expect(await ask('')).toEqual([200, { items }])
  expect(await ask(`/${UIDS[0]}`)).toEqual([200, items[0]])
  expect(await ask(`/${'c'.repeat(40)}`)).toMatchObject([404, { code: 5 }])
  expect(await ask(`/${UIDS[0]}`, put({ title: 5 }))).toMatchObject([
    400,
    { code: 3, message: 'Invalid argument: title: must be a string' },
  ])
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  shop.close()
})
