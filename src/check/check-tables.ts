import { checkAtStart } from '../grpc/check-at-start.ts'
import { openApiDocument } from '../openapi/open-api-document.ts'
import { routeProblems } from '../serve/route.ts'
import { mappingProblems } from '../tables/check.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import { type Contracts, coverageOf } from './coverage.ts'
import { differenceProblems } from './difference-problems.ts'
import type { Point } from './point.ts'
import { isOpen, undecidedIn } from './undecided.ts'

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
  const coverage = contracts && coverageOf(operations, contracts, tables.acknowledged)
  return {
    wrong: [
      ...mappingProblems(tables.mappings),
      ...routeProblems(operations),
      ...differenceProblems(tables),
      ...contractProblems(tables),
      ...(await factProblems(tables)),
      ...(coverage?.problems ?? []),
    ],
    undecided: undecidedIn(tables),
    points: (coverage?.points ?? []).map((point) =>
      point.state === 'acknowledged' && isOpen(point.why) ? { ...point, state: 'undecided' } : point,
    ),
  }
}

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

async function factProblems({ hasGrpc, mappings, shapes }: Tables): Promise<readonly string[]> {
  if (!hasGrpc) return []
  return checkAtStart(mappings, shapes).then(
    () => [],
    (error: Error) => [error.message],
  )
}

/** True if nothing is left to do. */
export function isWell({ wrong, undecided, points }: CheckedTables): boolean {
  return wrong.length === 0 && undecided.length === 0 && points.every(({ state }) => state !== 'lacking')
}
