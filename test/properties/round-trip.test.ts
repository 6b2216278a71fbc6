import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { long, objects } from '../../src/tables/fields.ts'
import { parseJson } from '../../src/tables/json.ts'
import { message } from '../../src/tables/resource.ts'
import { DIALECTS } from '../../src/tables/uid.ts'
import { deepFreeze } from '../mappings/transcript.ts'
import { holds, hostileText, messages, operations, same, settled, spelled, v1Form, v2Form } from './forms.ts'

describe('bodies', () => {
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
})

describe('round trip', () => {
  /** Inputs are deeply frozen, so that every write to one throws. */
  describe.each(messages.map((message) => [message.name, message] as const))('%s', (_, { fields, shown, read, show }) => {
    it('v2 → v1 → v2 returns the same form in both dialects, encoded alike each time', () => {
      holds(v2Form(fields), (v2) => {
        deepFreeze(v2)
        for (const dialect of DIALECTS) {
          const v1 = deepFreeze(show[dialect](v2))
          same(read(v1), v2, `${dialect}: v2 → v1 → v2`)
          same(JSON.stringify(show[dialect](v2)), JSON.stringify(v1), `${dialect}: encoded twice`)
        }
      })
    })

    it('v1 → v2 → v1 loses only what v1 cannot write; both spellings are read alike', () => {
      holds(fc.tuple(v1Form(fields), fc.infiniteStream(fc.constantFrom(...DIALECTS))), ([v1, mixed]) => {
        deepFreeze(v1)
        const v2 = deepFreeze(read(v1))
        for (const dialect of DIALECTS) {
          same(show[dialect](v2), settled(shown, v1, dialect), `${dialect}: v1 → v2 → v1`)
          same(read(deepFreeze(spelled(fields, v1, () => dialect))), v2, `read in ${dialect} names`)
        }
        same(read(spelled(fields, v1, () => mixed.next().value)), v2, 'read in mixed names')
        same(JSON.stringify(read(v1)), JSON.stringify(v2), 'encoded twice')
      })
    })
  })

  const replacements = operations.filter(({ method, request, answer }) => method === 'PUT' && request && answer && request !== answer)

  describe.each(replacements.map((operation) => [operation.id, operation] as const))('%s', (_, { request, answer }) => {
    it('its answer can be sent back', () => {
      holds(v2Form(request?.fields ?? {}), (v2) => {
        for (const dialect of DIALECTS) same(request?.read(answer?.show[dialect](v2)), v2, dialect)
      })
    })
  })
})
