import { differences } from '../../../mappings/differences.ts'
import type { Case } from '../case.ts'
import { complaintsOf } from '../judge.ts'
import { run } from '../run.ts'
import type { Carried } from './carry.ts'
import { EXCEPTIONS } from './exceptions.ts'

/** Plays a case on both sides at the same time. Throws what differs and is not declared, and an exception that is none. */
export async function compare(one: Case, genuine: Carried, proxied: Carried): Promise<void> {
  const [there, here] = await Promise.all([run(one, genuine.target), run(one, proxied.target)])
  const complaints = complaintsOf({ case: one, genuine: there, proxied: here }, differences)
  const isException = EXCEPTIONS[one.name] !== undefined
  if (isException && complaints.length === 0) throw new Error(`it passes and is no exception: ${EXCEPTIONS[one.name]}`)
  if (!isException && complaints.length > 0) throw new Error(complaints.join('\n'))
}
