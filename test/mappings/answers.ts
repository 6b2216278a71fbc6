import { createRouter } from '../../src/serve/route.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { operations } from '../properties/forms.ts'
import { play } from './transcript.ts'
import { transcripts } from './transcripts.ts'

/** One answer to v1 clients in a transcript. */
export interface Answered {
  readonly operation: string
  readonly title: string
  readonly status: number
  readonly reply: unknown
}

const router = createRouter(operations)

/** Returns the answers of all transcripts, in one dialect. */
export function answers(dialect: Dialect): Promise<readonly Answered[]> {
  return Promise.all(transcripts.map(async (transcript) => ({ ...(await play(transcript, router, dialect)), title: transcript.title })))
}
