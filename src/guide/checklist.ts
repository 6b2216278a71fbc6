import type { Operation } from '../tables/operation.ts'
import type { GuideBlocker, GuideSection } from './guide-schema.ts'

interface Moved {
  readonly sections: readonly GuideSection[]
  readonly blockers: readonly GuideBlocker[]
  readonly operations: readonly Operation[]
  /** The hash of the client; undefined in a guide without one. */
  readonly caller: string | undefined
}

/** Returns what is to be done, in the order in which it is done. */
export function checklistFor({ sections, blockers, operations, caller }: Moved): readonly string[] {
  const isList = operations.some(({ rows }) => rows)
  const isSilent = operations.some(({ missing }) => missing !== 'error')
  const isWrite = operations.some(({ method }) => method !== 'GET')
  const dropped = sections.some(({ answer }) => answer.some(({ fate }) => fate === 'dropped'))
  return [
    ...blockers.map(({ use, instead }) =>
      instead === undefined ? `Settle ${use}: nothing in v2 takes its place.` : `Settle ${use}. Closest in v2: ${instead}.`,
    ),
    ...(sections.length > 0 ? [`Replace ${sections.map(({ operation }) => operation).join(', ')} by the calls below.`] : []),
    ...(sections.length > 0 ? ['Read and send the members by their v2 names; read an absent member as unset.'] : []),
    ...(dropped ? ['Remove what reads members that v2 does not have.'] : []),
    ...(isList && sections.length > 0 ? ['Read lists page by page, until nextPageToken is absent or empty.'] : []),
    ...(isSilent && sections.length > 0 ? ['Take 404 for "nothing found".'] : []),
    ...(sections.length > 0 ? ['Decide by the code of an error, never by its words.'] : []),
    ...(isWrite && sections.length > 0 ? ['Try each write on a test resource, and read it back.'] : []),
    ...(caller === undefined ? [] : [`After the change, see that the calls have stopped: crosswalk clients ${caller}.`]),
  ]
}
