import { inTurns } from '../../serve/bounds.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { ROWS } from '../../tables/turn.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { WantedProof } from '../compare/expected.ts'
import { type AskedRequest, inconclusive, type Judgement, unexplained } from '../compare/judge.ts'
import type { Judging, SideAnswer } from './compare-read.ts'

/** v1, as the caller may ask it. */
export interface ProvingV1 {
  readonly ask: (operation: Operation, request: V1Request) => Promise<SideAnswer>
  readonly operations: readonly Operation[]
}

/** Up to so many resources of one list are asked for one by one. */
const FEW = 5

export type Proofs = ReturnType<typeof createProofs>

/** Remembers what v1 shows one caller, for the comparison of one request. Without v1, nothing is proven. */
export function createProofs(asked: AskedRequest, { judge, wants }: Pick<Judging, 'judge' | 'wants'>, v1Side: ProvingV1 | undefined) {
  const known = new Map<string, JsonObject | 'nothing' | 'unknown'>()
  const keyOf = ({ read, uid }: Pick<WantedProof, 'read' | 'uid'>) => `${read} ${uid}`
  const proven: AskedRequest = { ...asked, shown: (read, uid) => known.get(keyOf({ read, uid })) }
  const look = async ({ read, uids, isFiltered }: WantedRead, { ask, operations }: ProvingV1) => {
    const operation = operations.find(({ id }) => id === read)
    const requests = operation ? requestsFor(operation, asked, uids, isFiltered) : []
    const answers = operation ? await Promise.all(requests.map((request) => ask(operation, request))) : []
    const rows = answers.map(({ seen }) => rowsIn(seen))
    const shown = new Map(rows.flatMap((of) => of ?? []).map((row) => [row.id, row]))
    const isKnown = rows.length > 0 && rows.every((of) => of !== undefined)
    for (const uid of uids) known.set(keyOf({ read, uid }), shown.get(uid) ?? (isKnown ? 'nothing' : 'unknown'))
  }
  return {
    /** The request, with what v1 has shown by now. */
    asked: proven,
    /** Judges two answers. Where a declared difference asks for a proof, v1 is asked for it first. */
    async judge(v1: SeenAnswer, v2: SeenAnswer): Promise<Judgement> {
      const judgement = await inTurns(judge(proven, v1, v2))
      const wanted = judgement.outcome === 'mismatch' ? unexplained(judgement.findings).flatMap((one) => wants(proven, one)) : []
      if (!v1Side || wanted.length === 0) return judgement
      await Promise.all(readsOf(wanted).map((read) => look(read, v1Side)))
      const again = await inTurns(judge(proven, v1, v2))
      const isUnknown = wanted.some((one) => known.get(keyOf(one)) === 'unknown')
      return isUnknown && again.outcome !== 'mismatch' ? inconclusive(UNPROVEN) : again
    },
  }
}

const UNPROVEN = 'v1 did not show what a declared difference needs'

/** A list of v1, and the resources that it may show. */
interface WantedRead {
  readonly read: string
  readonly uids: readonly string[]
  readonly isFiltered: boolean
}

function readsOf(wanted: readonly WantedProof[]): readonly WantedRead[] {
  return [...new Set(wanted.map(({ read }) => read))].map((read) => {
    const own = wanted.filter((one) => one.read === read)
    return { read, uids: [...new Set(own.map(({ uid }) => uid))], isFiltered: own.some(({ filtered }) => filtered) }
  })
}

/** Few resources are asked for by their uids. Many are looked for in the list. */
function requestsFor(
  { selects = 'id', params }: Operation,
  { operation, request }: AskedRequest,
  uids: readonly string[],
  isFiltered: boolean,
): readonly V1Request[] {
  const of = (query: V1Request['query']): V1Request => ({ params: {}, query, body: undefined })
  if (uids.length <= FEW) return uids.map((uid) => of(new Map([[selects, [uid]]])))
  const filters = new Set(
    Object.keys(isFiltered ? operation.params : {})
      .filter((name) => Object.hasOwn(params, name))
      .flatMap(spellings),
  )
  return [of(new Map([...request.query].filter(([name]) => filters.has(name))))]
}

/** Returns the rows that v1 shows; none if it refuses the caller, and undefined if it did not answer. */
function rowsIn({ status, body }: SeenAnswer): readonly JsonObject[] | undefined {
  if (status === 403 || status === 404) return []
  const rows = status === 200 && body.kind === 'json' && isObject(body.value) ? body.value[ROWS] : undefined
  return Array.isArray(rows) ? rows.filter(isObject) : undefined
}
