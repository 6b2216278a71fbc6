import { describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { DIALECTS } from '../../src/tables/language/names.ts'
import { createRouter } from '../../src/translate/router.ts'
import { expected, play } from './transcript.ts'
import { transcripts } from './transcripts.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const router = createRouter(operations)

describe.each(DIALECTS)('transcripts in the %s dialect', (dialect) => {
  it.each(transcripts.map((transcript) => [`${transcript.operation}: ${transcript.title}`, transcript] as const))(
    '%s',
    async (_, transcript) => {
      expect(await play(transcript, router, dialect)).toEqual(expected(transcript, dialect))
    },
  )
})

it('every operation that is served from v2 has a transcript that succeeds', () => {
  const spoken = new Set(transcripts.filter(({ status = 200 }) => status === 200).map(({ operation }) => operation))
  const served = operations.filter(({ kind }) => kind !== 'v1-only').map(({ id }) => id)
  expect(served.filter((id) => !spoken.has(id))).toEqual([])
})

it('every transcript names an operation', () => {
  const ids = new Set(operations.map(({ id }) => id))
  expect(transcripts.filter(({ operation }) => !ids.has(operation))).toEqual([])
})
