import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DIALECTS } from '../../src/tables/uid.ts'
import { deepFreeze } from '../mappings/deep-freeze.ts'
import { holds, same } from './check.ts'
import { v1Form, v2Form } from './forms.ts'
import { messages, operations } from './messages.ts'
import { settled, spelled } from './rows.ts'

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
