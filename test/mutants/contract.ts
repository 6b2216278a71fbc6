import { differences } from '../../mappings/differences.ts'
import { cases } from '../compat/cases/index.ts'
import { complaintsAboutList, complaintsOf, type Outcome } from '../compat/judge.ts'
import { run } from '../compat/run.ts'
import { startSides } from '../compat/sides.ts'
import type { Dialect } from '../compat/spell.ts'
import type { Suite } from './suites.ts'

/** The contract cases of the faulty operations, each on services of its own: what a fault leaves behind misleads nobody. */
export const contract: Suite = async ({ operations }) => {
  for (const dialect of ['specification', 'published'] as const) {
    const told = await complaintOf(dialect, operations)
    if (told !== undefined) return `contract, ${dialect} dialect: ${told}`
  }
  return undefined
}

async function complaintOf(dialect: Dialect, operations: readonly string[]): Promise<string | undefined> {
  const chosen = cases.filter((one) => (one.dialect ?? dialect) === dialect && one.operations.some((id) => operations.includes(id)))
  const sides = await startSides(dialect)
  try {
    for (const one of chosen) {
      const outcome: Outcome = { case: one, genuine: await run(one, sides.genuine), proxied: await run(one, sides.proxied) }
      const [complaint] = complaintsOf(outcome, differences)
      if (complaint !== undefined) return complaint
    }
    return undefined
  } finally {
    await sides.close()
  }
}

let outcomes: Promise<readonly Outcome[]> | undefined

/** What the contract says of the list of differences. The cases that differ are played once: the list is not part of the services. */
export const declared: Suite = async ({ operations }) => {
  if (operations.length > 0) return undefined
  outcomes ??= playDiffering()
  const told = [...complaintsAboutList(cases, differences), ...(await outcomes).flatMap((outcome) => complaintsOf(outcome, differences))]
  return told[0] === undefined ? undefined : `contract: ${told[0]}`
}

async function playDiffering(): Promise<readonly Outcome[]> {
  const sides = await startSides('specification')
  const played: Outcome[] = []
  try {
    for (const one of cases) {
      if (one.difference === undefined || one.dialect === 'published') continue
      played.push({ case: one, genuine: await run(one, sides.genuine), proxied: await run(one, sides.proxied) })
    }
    return played
  } finally {
    await sides.close()
  }
}
