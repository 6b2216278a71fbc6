import { z } from 'zod'
import type { Comparison, Example } from '../../migrate/records/record.ts'
import { readText } from '../read-text.ts'

/** Maximum characters of one comparison in the store. */
const LONGEST = 16_000

/** Returns a comparison as the store keeps it: without what is least needed, as far as it is too long. Undefined if it always is. */
export function textOfComparison(comparison: Comparison): string | undefined {
  const { exhibit: _, ...shown } = comparison
  const { answers: __, ...short } = { ...shown, examples: shown.examples.map(withoutAround) }
  const texts = [comparison, shown, short, { ...short, examples: [] }].map((one) => JSON.stringify(one))
  return texts.find((text) => text.length <= LONGEST)
}

function withoutAround({ around: _, ...example }: Example): Example {
  return example
}

const comparisonSchema = z.looseObject({
  kind: z.literal('comparison'),
  id: z.string().min(1),
  at: z.string().refine((at) => !Number.isNaN(Date.parse(at))),
  caller: z.string(),
  operation: z.string(),
  mode: z.string(),
  shape: z.string(),
  check: z.enum(['read', 'after-write', 'write']),
  outcome: z.enum(['match', 'expected', 'noise', 'race', 'mismatch', 'transient', 'error', 'inconclusive']),
  totals: z.array(z.looseObject({ kind: z.string(), where: z.string(), count: z.number() })),
  examples: z.array(z.looseObject({ kind: z.string(), where: z.string(), at: z.string() })),
  v2: z.looseObject({ status: z.number() }),
})

/** Reads it. Undefined if another version of Crosswalk wrote it in another form. */
export function comparisonIn(text: string): Comparison | undefined {
  return readText(comparisonSchema, text) as Comparison | undefined
}
