/** The version that has something. */
export type ContractSide = 'v1' | 'v2'

/** What a contract says something about. */
export type PointPart = 'operation' | 'parameter' | 'request' | 'answer'

/** What one operation of the tables does with one place of a contract. */
export interface PointSeen {
  readonly side: ContractSide
  readonly part: PointPart
  /** `GET /v3/liens`, `GET /v3/liens?parent`, `Lien.parent`, `Lien.state=ACTIVE`. */
  readonly at: string
  /** The operation of the contract. */
  readonly operation: string
  /** `unsure`: several calls make the answer, and nobody can tell which of them a row reads. */
  readonly state: 'covered' | 'acknowledged' | 'lacking' | 'unsure'
  /** The reason of an acknowledgement; otherwise what is wrong and what to change. */
  readonly why: string
  /** For a value that a row of texts carries as it is: the row. */
  readonly carriedBy?: string
}

/** One place of a contract, over all operations that have it. */
export interface Point extends Pick<PointSeen, 'side' | 'part' | 'at' | 'why'> {
  readonly operations: readonly string[]
  /** `undecided`: the reason of the acknowledgement is empty or waits for a person. */
  readonly state: 'covered' | 'acknowledged' | 'undecided' | 'lacking'
}

/** Where something is seen. */
export type ContractPlace = Pick<PointSeen, 'side' | 'part' | 'at' | 'operation'>

/** Joins the seen of each place: one operation that lacks it is enough, and one that has it settles what is unsure. */
export function pointsOf(seen: Iterable<PointSeen>): readonly Point[] {
  const groups = new Map<string, PointSeen[]>()
  for (const one of seen) {
    const key = `${one.side} ${one.part} ${one.at}`
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].flatMap((group) => {
    const state = (['lacking', 'acknowledged', 'covered', 'unsure'] as const).find((wanted) => group.some((one) => one.state === wanted))
    const deciding = group.filter((one) => one.state === state)
    const [first] = deciding
    if (!first || !state) return []
    const { side, part, at, why } = first
    const operations = [...new Set(deciding.map(({ operation }) => operation))]
    return [{ side, part, at, why, operations, state: state === 'unsure' ? ('lacking' as const) : state }]
  })
}
