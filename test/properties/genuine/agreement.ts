import type { Arbitrary } from 'fast-check'
import { ApiError } from '../../../src/errors.ts'
import { decode, encodeResource } from '../../../src/sandbox/v1/operation.ts'
import { fieldAt } from '../../../src/tables/compile.ts'
import type { Message } from '../../../src/tables/resource.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { same } from '../check.ts'
import { operations } from '../messages.ts'
import { alone, bodies, holdsAny, rows } from './forms.ts'
import type { Pair } from './pairs.ts'

type Json = Readonly<Record<string, unknown>>

/** A property that must hold for every drawn value. */
export interface Agreement {
  readonly what: string
  readonly drawn: Arbitrary<Json>
  readonly check: (value: Json) => void
}

const asItIs = (row: Json) => row

/** What a table and its genuine twin must do alike: show a row in both dialects and, if v1 writes it, read a body. */
export function agreements({
  table,
  genuine,
  completed = asItIs,
  inV2 = asItIs,
  toV2 = asItIs,
  asked = asItIs,
}: Pair): readonly Agreement[] {
  const shows: Agreement = {
    what: 'is shown as the genuine v1 shows it',
    drawn: rows(genuine).map(completed),
    check: (row) => {
      for (const dialect of DIALECTS) same(table.show[dialect](inV2(row)), encodeResource(row, genuine, dialect), dialect)
    },
  }
  const reads: Agreement = {
    what: 'is read as the genuine v1 reads it',
    drawn: bodies(genuine).map(asked),
    check: (body) => {
      const stored = decode(body, genuine)
      same(table.read(body, stored), toV2(stored), 'read')
    },
  }
  // A plan writes the members that belong to another resource.
  const ownMembers = alone(genuine).filter(([path]) => fieldAt(table.fields, path.split('.'))?.access !== 'elsewhere')
  const keeps = ownMembers.map(
    ([path, drawn]): Agreement => ({
      what: `either writes or refuses ${path}`,
      drawn,
      check: (body) => same(isWritten(table.read, body, path), true, path),
    }),
  )
  const shown = operations.some(({ answer, envelope }) => answer === table || envelope === table)
  const written = operations.some(({ request }) => request === table)
  return [...(shown ? [shows] : []), ...(written ? [reads, ...keeps] : [])]
}

/** True if v2 gets the only member of a body, or the client an error that names it. */
function isWritten(read: Message['read'], body: Json, path: string): boolean {
  try {
    return holdsAny(read(body))
  } catch (error) {
    return error instanceof ApiError && error.message.startsWith(`Invalid argument: ${path}: `)
  }
}
