import { describe, expect, it } from 'vitest'
import { createRouter } from '../../src/serve/route.ts'
import { DIALECTS } from '../../src/tables/uid.ts'
import { operations } from '../properties/forms.ts'
import { expected, play } from './transcript.ts'
import { transcripts } from './transcripts.ts'

const router = createRouter(operations)

describe.each(DIALECTS)('transcripts in the %s dialect', (dialect) => {
  it.each(transcripts.map((transcript) => [`${transcript.operation}: ${transcript.title}`, transcript] as const))(
    '%s',
    async (_, transcript) => {
      expect(await play(transcript, router, dialect)).toEqual(expected(transcript, dialect))
    },
  )
})
