import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { type OpenApiDocument, serverUrl } from '../../tools/openapi.ts'

export interface ContractSources {
  /** Returns the v1 contract of the proxy at this address. */
  readonly contract: (server: string) => OpenApiDocument
  /** The address that the proxy listens at. */
  readonly proxyUrl: () => string
}

interface Written {
  readonly server: string
  readonly text: string
  readonly etag: string
}

/** Adds the v1 contract as OpenAPI. It is made when somebody first asks, and again if the machine is then called by another name. */
export function addContract(app: FastifyInstance, { contract, proxyUrl }: ContractSources): void {
  let last: Written | undefined
  const writtenFor = (server: string): Written => {
    if (last?.server === server) return last
    const text = `${JSON.stringify(contract(server), null, 2)}\n`
    last = { server, text, etag: `"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"` }
    return last
  }
  app.get('/openapi.json', async ({ headers, hostname }, reply) => {
    const { text, etag } = writtenFor(serverUrl(proxyUrl(), hostname))
    reply.header('etag', etag)
    if (headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
