import { covers } from '../../tables/operation.ts'
import type { Sign } from '../../tables/signs.ts'
import type { Finding } from '../compare/finding.ts'
import type { AskedRequest } from './asked-request.ts'
import { compileSign } from './sign-test.ts'

/** Why an operator ignores a difference, and until when. */
export interface Ignored {
  readonly reason: string
  /** Milliseconds since 1970 from which it explains nothing. */
  readonly until: number
}

/** The part of a declared difference (mappings/differences.ts, or the setting diff.ignore) that comparing needs. */
export interface Declaration {
  readonly code: string
  /** Operation ids, or patterns with `*`. */
  readonly operations: readonly string[]
  /** Absent if the difference shows only in writes or in texts, where no comparison can find it. */
  readonly signs?: readonly Sign[]
  /** Absent if it is declared in the tables. */
  readonly ignored?: Ignored
}

/** A declared difference with its texts: what a client sees, and why. */
export interface DescribedDeclaration extends Declaration {
  readonly seen: string
  readonly because: string
}

/** `matched` explained a finding. `stale` has not explained any. `invisible` has no signs, so it cannot. `expired` no longer does. */
export type DeclarationState = 'matched' | 'stale' | 'invisible' | 'expired'

export interface DeclarationReport {
  readonly code: string
  readonly state: DeclarationState
  /** Number of findings that it explained. */
  readonly findings: number
  /** Comparisons of its operations so far. With none, a stale code may only lack traffic. */
  readonly comparisons: number
  readonly ignored?: Ignored
}

export interface ExpectedDifferences {
  /** Takes other declarations from now on. What is counted of a code stays. */
  declare(declarations: readonly Declaration[]): void
  /** Returns the code of the declaration that explains a finding about the answers to this request. */
  codeOf(asked: AskedRequest, finding: Finding): string | undefined
  /** Counts one comparison and the codes that explained its findings. A code that occurs twice explained two findings. */
  count(operation: string, codes: readonly string[]): void
  report(): readonly DeclarationReport[]
}

interface Compiled {
  readonly code: string
  readonly covers: (operation: string) => boolean
  readonly fits: (asked: AskedRequest, finding: Finding) => boolean
  readonly visible: boolean
  readonly ignored: Ignored | undefined
  findings: number
  comparisons: number
}

/**
 * Compiles the declared differences. The first declaration that fits a finding gives its code. `now` gives milliseconds since 1970: what is
 * ignored until a date explains nothing from then on.
 */
export function createExpected(declarations: readonly Declaration[], now: () => number): ExpectedDifferences {
  let all = declarations.map(compile)
  const isOver = ({ ignored }: Compiled) => ignored !== undefined && now() >= ignored.until
  const explains = (one: Compiled, asked: AskedRequest, finding: Finding) =>
    one.visible && one.covers(asked.operation.id) && one.fits(asked, finding) && !isOver(one)
  return {
    declare(others) {
      const before = new Map(all.map((one) => [one.code, one]))
      all = others.map(compile).map((one) => {
        const { findings, comparisons } = before.get(one.code) ?? one
        return { ...one, findings, comparisons }
      })
    },
    codeOf: (asked, finding) => all.find((one) => explains(one, asked, finding))?.code,
    count(operation, codes) {
      for (const one of all) {
        if (one.covers(operation)) one.comparisons += 1
        one.findings += codes.filter((code) => code === one.code).length
      }
    },
    report: () =>
      all.map((one) => {
        const { code, findings, comparisons, ignored } = one
        return { code, state: isOver(one) ? 'expired' : stateOf(one), findings, comparisons, ...(ignored && { ignored }) }
      }),
  }
}

/** Returns a row with the counts of several processes. */
export function withCounts(row: DeclarationReport, counts: Pick<DeclarationReport, 'findings' | 'comparisons'>): DeclarationReport {
  const isCounted = row.state === 'matched' || row.state === 'stale'
  return { ...row, ...counts, ...(isCounted && { state: stateOf({ visible: true, ...counts }) }) }
}

function stateOf({ visible, findings }: Pick<Compiled, 'visible' | 'findings'>): DeclarationState {
  if (!visible) return 'invisible'
  return findings > 0 ? 'matched' : 'stale'
}

function compile({ code, operations, signs = [], ignored }: Declaration): Compiled {
  const known = new Map<string, boolean>()
  const isCovered = (operation: string) => {
    const before = known.get(operation)
    if (before !== undefined) return before
    const now = operations.some((pattern) => covers(pattern, operation))
    known.set(operation, now)
    return now
  }
  const tests = signs.map(compileSign)
  return {
    code,
    covers: isCovered,
    fits: (asked, finding) => tests.some((test) => test(asked, finding)),
    visible: signs.length > 0,
    ignored,
    findings: 0,
    comparisons: 0,
  }
}
