import type { CodeName } from '../../errors/codes.ts'
import type { JsonObject } from '../json.ts'
import type { Resource } from '../language/resource.ts'
import { distinct, type FoundResources, hydrate, type Reference } from './hydrate.ts'
import { type Listing, LOOKED_AT, PAGE_SIZE, pageCall, pageIn } from './page.ts'
import { askAll, bodyOf, type Call, type Outcome, type Plan } from './plan.ts'

/** The parameter by which a list of v2 shows exactly these uids (facts §10.4). */
export const IDS = 'uidp.ids'

/** The longest query of a list by uids, in characters: servers refuse lines above 8,000. Its rows fit on one page. */
const LONGEST_QUERY = 6000

const BESIDE_UID = `&${IDS}=`.length

/**
 * Errors of a service, or of a gateway before it, that takes no list by uids, or none so long. The specification does not show the
 * parameter (facts §11).
 */
const NOT_TAKEN: ReadonlySet<CodeName> = new Set(['INVALID_ARGUMENT', 'NOT_FOUND', 'PERMISSION_DENIED', 'UNIMPLEMENTED'])

/** A list by uids. */
interface Search {
  readonly listing: Listing
  readonly call: Call
  readonly wanted: readonly Reference[]
}

/**
 * Finds each resource once and returns path → resource, with one list by uids for all of a collection (facts §10.4).
 * For resources whose list shows what their Get shows, and rows that can say that a value is hidden: a list leaves out what is
 * gone and what the caller may not see (facts §10.8). If v2 does not take the list, or does not show it whole, Gets find the rest.
 *
 *     const found = yield* findAll(rows.map(({ roleUid }) => lookUp(role, asText(roleUid))))
 */
export function* findAll(lookUps: readonly Reference[]): Plan<FoundResources> {
  const searches = searchesFor(distinct(lookUps))
  const found = new Map<string, JsonObject>()
  const left: Reference[] = []
  for (const [at, outcome] of (yield* askAll(searches.map(({ call }) => call))).entries()) {
    left.push(...takeListed(found, searches[at] as Search, outcome))
  }
  return left.length === 0 ? found : new Map([...found, ...(yield* hydrate(left, { mayBeHidden: true }))])
}

/** Adds what a list by uids shows. Returns what must be found otherwise. */
function takeListed(found: Map<string, JsonObject>, { listing, call, wanted }: Search, outcome: Outcome): readonly Reference[] {
  if (!outcome.ok && NOT_TAKEN.has(outcome.error.code)) return wanted
  const { rows, nextPageToken } = pageIn(listing, call, bodyOf(outcome, LOOKED_AT))
  const byUid = new Map((rows as readonly JsonObject[]).map((row) => [row.uid, row]))
  for (const { uid, path } of wanted) {
    const row = byUid.get(uid)
    if (row) found.set(path, row)
  }
  return nextPageToken === '' ? [] : wanted.filter(({ path }) => !found.has(path))
}

function searchesFor(lookUps: readonly Reference[]): readonly Search[] {
  const byResource = new Map<Resource, Reference[]>()
  for (const one of lookUps) {
    const own = byResource.get(one.resource)
    if (own) own.push(one)
    else byResource.set(one.resource, [one])
  }
  return [...byResource].flatMap(([resource, wanted]) => sharesOf(inOrder(wanted)).map((share) => searchFor(resource, share)))
}

/** Pages whose rows refer to the same resources then share one call. */
function inOrder(lookUps: readonly Reference[]): readonly Reference[] {
  return [...lookUps].sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

/** Returns the look-ups of each call. */
function sharesOf(lookUps: readonly Reference[]): readonly (readonly Reference[])[] {
  const shares: Reference[][] = []
  let room = 0
  for (const one of lookUps) {
    const length = BESIDE_UID + encodeURIComponent(one.uid).length
    if (length > room) {
      shares.push([])
      room = LONGEST_QUERY
    }
    shares.at(-1)?.push(one)
    room -= length
  }
  return shares
}

function searchFor(resource: Resource, wanted: readonly Reference[]): Search {
  const { v2, plural, order } = resource
  const listing = { path: v2, plural, order, query: wanted.map(({ uid }) => [IDS, uid] as const), row: resource }
  const keep = { key: `${v2} ${wanted.map(({ uid }) => uid).join()}`, scope: 'request', size: wanted.length } as const
  return { listing, call: { ...pageCall(listing, PAGE_SIZE, []), keep }, wanted }
}
