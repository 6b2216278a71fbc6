import { createHash } from 'node:crypto'
import { session } from './api.ts'
import type { Case } from './case.ts'
import { type Exchange, type Line, normalise } from './normalise.ts'
import type { Target } from './target.ts'

/** The result of one case at one target. */
export interface Run {
  readonly transcript: readonly Line[]
  /** Every exchange, including those that the transcript omits. */
  readonly exchanges: readonly Exchange[]
  /** The failure of the case; undefined if it passed. */
  readonly failure: Error | undefined
}

/** Plays one case against one target and cleans up after it. */
export async function run(one: Case, target: Target): Promise<Run> {
  const { api, exchanges, all, close } = session(target, slug(one.name))
  let failure: Error | undefined
  try {
    await one.run(api)
  } catch (thrown) {
    failure = thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  const asked = [...all]
  await close()
  return { transcript: normalise(exchanges, one.difference), exchanges: asked, failure }
}

/** Returns a part for names that any resource accepts (semantics §3.0) and no other case has. */
function slug(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return words.length <= 48 ? words : `${words.slice(0, 40)}-${createHash('sha1').update(name).digest('hex').slice(0, 7)}`
}
