import { checkAtStart } from '../grpc/check-at-start.ts'
import { routeProblems } from '../serve/route.ts'
import { mappingProblems, suggestion } from '../tables/check.ts'
import { covers, type Operation } from '../tables/operation.ts'
import { isReadBack } from '../tables/operations.ts'
import { asParam, paramsOf } from '../tables/query.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import { type Contracts, coverageOf, nameOf, type Point, routeOf } from './check-coverage.ts'
import { lossesIn } from './explore.ts'
import { openApiDocument } from './openapi.ts'

/** Begins the reason of everything that a person must decide. */
export const TO_DECIDE = 'TO DECIDE'

/** Returns a sentence for each reason that is empty or waits for a person. */
function undecidedIn(tables: Tables): readonly string[] {
  const reasons = [
    ...operationsOf(tables).flatMap(reasonsOf),
    ...tables.differences.map(({ code, because }) => [`difference ${code}`, because] as const),
    ...(tables.acknowledged ?? []).map((row) => [nameOf(row), row.reason] as const),
  ]
  const open = reasons.filter(([, reason]) => isOpen(reason))
  return [...new Set(open.map(([where, reason]) => `${where}: ${reason.replace(/^TO DECIDE:?\s*/, '').trim() || 'no reason is given'}`))]
}

/** True if a reason is empty or waits for a person. */
function isOpen(reason: string): boolean {
  return reason.trim() === '' || reason.startsWith(TO_DECIDE)
}

type Reason = readonly [where: string, reason: string]

function reasonsOf(operation: Operation): readonly Reason[] {
  const { because, readBack, params, mask, request, answer } = operation
  const route = routeOf(operation)
  return [
    ...(because === undefined ? [] : [[route, because] as const]),
    ...Object.entries(params).flatMap(([name, row]): Reason[] => {
      const { v1Only } = asParam(row)
      return v1Only === undefined ? [] : [[`${route}?${name}`, v1Only]]
    }),
    ...(readBack && !isReadBack(readBack) ? [[route, readBack.unverifiable] as const] : []),
    ...(mask && mask !== '*' ? [[`${route} mask`, mask.because] as const] : []),
    ...[request, answer].flatMap((message) => (message ? lossesIn(message.fields, `${message.name}.`) : [])),
  ]
}

/** Yields a sentence for each declared difference that names an operation or a parameter that nobody has. */
function* differenceProblems(tables: Pick<Tables, 'mappings' | 'differences'>): Generator<string> {
  const operations = operationsOf(tables)
  const ids = operations.map(({ id }) => id)
  for (const { code, operations: patterns, met, signs = [] } of tables.differences) {
    for (const pattern of patterns) {
      if (!ids.some((id) => covers(pattern, id)))
        yield `difference ${code}: "${pattern}" fits no operation; ${suggestion(pattern, ids, 'remove it.')}`
    }
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    const known = covered.flatMap(paramsOf)
    const named = new Set([...(met?.given ?? []), ...signs.flatMap(({ when = [] }) => when.flatMap(({ param }) => param))])
    for (const name of named) {
      if (!known.includes(name))
        yield `difference ${code}: no operation of it has a parameter ${name}; ${suggestion(name, known, 'remove it.')}`
    }
  }
}

/** All that a table lacks. */
export interface CheckedTables {
  /** What would end a start, and what names something that no contract has. */
  readonly wrong: readonly string[]
  /** Reasons that are empty or wait for a person. */
  readonly undecided: readonly string[]
  /** What both contracts have; empty without them. */
  readonly points: readonly Point[]
}

/** Runs every check of the start, collects open reasons, and compares the tables with both contracts if they are given. */
export async function checkTables(tables: Tables, contracts?: Contracts): Promise<CheckedTables> {
  const operations = operationsOf(tables)
  const coverage = contracts && coverageOf(operations, contracts, tables)
  return {
    wrong: [
      ...mappingProblems(tables.mappings),
      ...routeProblems(operations),
      ...differenceProblems(tables),
      ...contractProblems(tables),
      ...(tables.hasGrpc ? await checkAtStart(tables.mappings, tables.shapes).then(NONE, ({ message }: Error) => [message]) : []),
      ...(coverage?.problems ?? []),
    ],
    undecided: undecidedIn(tables),
    points: (coverage?.points ?? []).map((point) =>
      point.state === 'acknowledged' && isOpen(point.why) ? { ...point, state: 'undecided' } : point,
    ),
  }
}

const NONE = (): readonly string[] => []

const ANNOUNCES_NOTHING = { deprecation: undefined, sunset: undefined, successor: undefined }

/** The v1 contract that the admin port shows must be writable. */
function contractProblems(tables: Tables): readonly string[] {
  try {
    openApiDocument(tables, { dialect: 'published', server: '', operations: [], notFound: 'empty', ...ANNOUNCES_NOTHING })
    return []
  } catch (error) {
    return [`the v1 contract cannot be written: ${(error as Error).message}`]
  }
}

/** True if nothing is left to do. */
export function isWell({ wrong, undecided, points }: CheckedTables): boolean {
  return wrong.length === 0 && undecided.length === 0 && points.every(({ state }) => state !== 'lacking')
}
