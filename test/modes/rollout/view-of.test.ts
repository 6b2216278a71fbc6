import { expect, it } from 'vitest'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { keptSince, knownFigure, seenSince } from '../../../src/migrate/rollout/run.ts'

const BEFORE = { 'iam.a': { n: 1000, bad: 50 } }

/** Evidence as the records that are left give it. */
const left = (n: number, bad: number) => {
  const evidence = createEvidence(() => 0)
  for (let nth = 0; nth < n; nth += 1) {
    evidence.observe({ operation: 'iam.a', caller: 'c', shape: `${nth}`, outcome: nth < bad ? 'mismatch' : 'match' })
  }
  return { evidence: { of: (operation: string) => knownFigure(evidence.of(operation)) } }
}

it.each([
  ['all records', 1500, 53, { n: 500, bad: 3 }],
  ['more than was saved', 1600, 54, { n: 600, bad: 4 }],
  ['records of before the run removed', 900, 3, { n: 500, bad: 3 }],
  ['records of the run removed too', 200, 0, { n: 500, bad: 3 }],
  ['only clean ones removed', 1300, 53, { n: 500, bad: 3 }],
])('the evidence of a run is neither diluted nor forgotten after a restart with %s', (_, n, bad, seen) => {
  const journal = left(n, bad)
  expect(seenSince(keptSince(BEFORE, { 'iam.a': { n: 500, bad: 3 } }, journal), journal)).toEqual({ 'iam.a': seen })
})
