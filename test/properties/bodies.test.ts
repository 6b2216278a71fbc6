import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { long, objects } from '../../src/tables/fields.ts'
import { parseJson } from '../../src/tables/json.ts'
import { message } from '../../src/tables/resource.ts'
import { holds, same } from './check.ts'
import { v1Form } from './forms.ts'
import { hostileText } from './hostile-text.ts'
import { operations } from './messages.ts'

const requests = operations.filter(({ request }) => request && Object.keys(request.fields).length > 0)

describe('a body as it comes over the wire', () => {
  it.each(requests.map(({ id, request }) => [id, request] as const))('%s', (_, request) => {
    if (!request) return
    holds(v1Form(request.fields), (v1) => {
      const text = hostileText(request.fields, v1)
      same(request.read(parseJson(text)), request.read(v1), text)
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    })
  })
})

describe('integers of 64 bits', () => {
  const counter = message('counter', { count: long('total'), parts: objects('parts', { size: long('size') }) })
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

  it('are exact in both directions, as bare numbers and as strings', () => {
    holds(fc.tuple(int64, fc.array(int64, { maxLength: 3 }), fc.boolean()), ([count, sizes, quoted]) => {
      const written = (value: bigint) => (quoted ? `"${value}"` : String(value))
      const text = `{"count":${written(count)},"parts":[${sizes.map((size) => `{"size":${written(size)}}`).join()}]}`
      const v2 = counter.read(parseJson(text))
      same(v2, { total: String(count), parts: sizes.map((size) => ({ size: String(size) })) }, text)
      same(counter.show.published(v2), { count: String(count), parts: sizes.map((size) => ({ size: String(size) })) }, text)
    })
  })
})
