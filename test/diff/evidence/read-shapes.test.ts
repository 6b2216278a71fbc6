import { expect, it } from 'vitest'
import { createReadShapes, shapeOf } from '../../../src/migrate/evidence/standing.ts'
import { operationOf } from '../given.ts'

const operation = operationOf('iam.roles.list')

/** A read with this name as its only parameter, which stands in the URL or in the body of a form. */
function named(name: string, place: 'url' | 'body') {
  const query = `name=${name}`
  const raw = { id: '1', method: 'GET', headers: {}, url: place === 'url' ? `/iam/v1/roles?${query}` : '/iam/v1/roles' }
  const request = { params: {}, query: new Map([['name', [name]]]), body: undefined }
  return { request, raw: place === 'url' ? raw : { ...raw, body: Buffer.from(query) }, shape: shapeOf(operation, request) }
}

it.each(['url', 'body'] as const)('tells reads with other values in the %s apart, also when asked again', (place) => {
  const shapes = createReadShapes()
  const reads = ['puller', 'true', '', 'x'.repeat(600)].map((name) => named(name, place))
  expect(new Set(reads.map(({ shape }) => shape)).size).toBe(3)
  for (const { request, raw, shape } of [...reads, ...reads]) expect(shapes(operation, () => request, raw)).toBe(shape)
})

it('reads a request only once for a URL', () => {
  const shapes = createReadShapes()
  const { request, raw, shape } = named('puller', 'url')
  let reads = 0
  const read = () => {
    reads += 1
    return request
  }
  for (let time = 0; time < 3; time += 1) expect(shapes(operation, read, raw)).toBe(shape)
  expect(reads).toBe(1)
})
