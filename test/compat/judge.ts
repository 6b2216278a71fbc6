import { isDeepStrictEqual } from 'node:util'
import { mappings } from '../../mappings/index.ts'
import { createRouter, type Router } from '../../src/serve/route.ts'
import { covers } from '../../src/tables/operation.ts'
import type { DeclaredDifference } from '../../src/tables/tables.ts'
import type { Case } from './case.ts'
import { operationsHit } from './hits.ts'
import type { Line } from './normalise.ts'
import type { Run } from './run.ts'

/** One case played on both sides. */
export interface Outcome {
  readonly case: Case
  readonly genuine: Run
  readonly proxied: Run
}

const ours = createRouter(mappings.flatMap(({ operations }) => operations))

/**
 * Returns the mistakes in one outcome. A case must pass on both sides and call the operations that it names. Without a difference, its two
 * transcripts must be equal. With one they must differ, and the code must be a known one for these operations. `router` routes the API of
 * the cases.
 */
export function complaintsOf(outcome: Outcome, differences: readonly DeclaredDifference[], router: Router = ours): string[] {
  const { case: one, genuine, proxied } = outcome
  const failures = Object.entries({ genuine, proxied }).flatMap(([side, { failure }]) => (failure ? [`${side}: ${failure.message}`] : []))
  if (failures.length > 0) return failures
  const called = operationsHit(
    router,
    proxied.exchanges.map(({ request }) => request),
  )
  const uncalled = one.operations.filter((id) => !called.has(id)).map((id) => `${id} is not called`)
  return [...uncalled, ...complaintsAboutDifference(outcome, differences)]
}

function complaintsAboutDifference({ case: one, genuine, proxied }: Outcome, differences: readonly DeclaredDifference[]): string[] {
  const apart = firstDifference(genuine.transcript, proxied.transcript)
  if (one.difference === undefined) return apart ? [`the sides differ and no difference is declared\n${apart}`] : []
  if (!apart) return [`difference ${one.difference} no longer occurs: both sides answer alike`]
  const known = differences.find(({ code }) => code === one.difference)
  if (!known) return [`difference ${one.difference} is not in mappings/differences.ts`]
  if (known.test !== one.name) return [`difference ${one.difference} says that it is pinned by "${known.test}", not by "${one.name}"`]
  return one.operations
    .filter((operation) => !known.operations.some((pattern) => covers(pattern, operation)))
    .map((operation) => `difference ${one.difference} does not name ${operation}`)
}

/** Returns the mistakes in the list of differences: codes without a case, repeated codes, operations without a case. */
export function complaintsAboutList(cases: readonly Case[], differences: readonly DeclaredDifference[]): string[] {
  return differences.flatMap(({ code, operations, test }, at) => {
    const said: string[] = []
    if (differences.findIndex((other) => other.code === code) !== at) said.push(`difference ${code} is declared twice`)
    const pinned = cases.filter(({ difference }) => difference === code)
    if (!pinned.some(({ name }) => name === test)) said.push(`difference ${code}: no case "${test}" pins it`)
    const shown = pinned.flatMap((one) => one.operations)
    const unseen = operations.filter((pattern) => !shown.some((operation) => covers(pattern, operation)))
    return [...said, ...unseen.map((pattern) => `difference ${code}: its case does not show ${pattern}`)]
  })
}

/** Describes the first place at which two transcripts differ; undefined if they are equal. */
export function firstDifference(genuine: readonly Line[], proxied: readonly Line[]): string | undefined {
  for (let at = 0; at < Math.max(genuine.length, proxied.length); at++) {
    const [left, right] = [genuine[at], proxied[at]]
    if (!isDeepStrictEqual(left, right)) return `${left?.['request']}\nnative:  ${JSON.stringify(left)}\nproxied: ${JSON.stringify(right)}`
  }
  return undefined
}
