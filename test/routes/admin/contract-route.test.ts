import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { createAdmin } from '../../../src/admin/admin.ts'
import { addContract } from '../../../src/admin/routes.ts'
import type { OpenApiDocument } from '../../../src/tools/openapi.ts'
import { documentWith } from '../../openapi/documents.ts'

it('makes the document once for each name of the machine', async () => {
  const made: string[] = []
  const app = Fastify()
  const contract = (server: string): OpenApiDocument => {
    made.push(server)
    return documentWith({ server, operations: ['ping.*'] })
  }
  addContract(app, { contract, proxyUrl: () => 'http://0.0.0.0:8080' })
  const ask = (host: string, known = '') => app.inject({ url: '/openapi.json', headers: { host, 'if-none-match': known } })
  const first = await ask('a.example:8081')
  expect(first.json().servers).toEqual([{ url: 'http://a.example:8080' }])
  const etag = String(first.headers.etag)
  expect((await ask('a.example:8081', etag)).statusCode).toBe(304)
  expect((await ask('b.example:8081', etag)).json().servers).toEqual([{ url: 'http://b.example:8080' }])
  expect(made).toEqual(['http://a.example:8080', 'http://b.example:8080'])
})

it('answers callers that may read, and no others', async () => {
  const sources = {
    operations: () => [],
    contract: () => documentWith({ operations: ['ping.*'] }),
    proxyUrl: () => 'http://127.0.0.1:8080',
  }
  const tokens = [{ name: 'admin.readToken', token: 'the-token-that-reads', right: 'read' }] as const
  const admin = createAdmin(sources as unknown as Parameters<typeof createAdmin>[0], { names: [], tokens: () => tokens })
  const ask = (headers: Record<string, string>) => admin.inject({ url: '/openapi.json', headers })
  expect((await ask({})).statusCode).toBe(401)
  expect((await ask({ authorization: 'Bearer the-token-that-reads' })).statusCode).toBe(200)
})
