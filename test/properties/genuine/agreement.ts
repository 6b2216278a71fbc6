import type { Arbitrary } from 'fast-check'
import { decode, encodeResource } from '../../../src/sandbox/v1/operation.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { same } from '../check.ts'
import { operations } from '../messages.ts'
import { bodies, rows } from './forms.ts'
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
export function agreements({ table, genuine, completed = asItIs, inV2 = asItIs, toV2 = asItIs }: Pair): readonly Agreement[] {
  const shows: Agreement = {
    what: 'is shown as the genuine v1 shows it',
    drawn: rows(genuine).map(completed),
    check: (row) => {
      for (const dialect of DIALECTS) same(table.show[dialect](inV2(row)), encodeResource(row, genuine, dialect), dialect)
    },
  }
  const reads: Agreement = {
    what: 'is read as the genuine v1 reads it',
    drawn: bodies(genuine),
    check: (body) => same(table.read(body), toV2(decode(body, genuine)), 'read'),
  }
  const shown = operations.some(({ answer, envelope }) => answer === table || envelope === table)
  const written = operations.some(({ request }) => request === table)
  return [...(shown ? [shows] : []), ...(written ? [reads] : [])]
}
