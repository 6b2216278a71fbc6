import type { Sign } from '../../tables/language/sign.ts'
import { covers } from '../../tables/operations/operation-pattern.ts'
import type { Finding } from '../compare/finding.ts'
import type { AskedRequest } from './asked-request.ts'
import { compileSign } from './sign-test.ts'

/** The part of a declared difference (mappings/differences.ts) that comparing needs. */
export interface Declaration {
  readonly code: string
  /** Operation ids, or patterns with `*`. */
  readonly operations: readonly string[]
  /** Absent if the difference shows only in writes or in texts, where no comparison can find it. */
  readonly signs?: readonly Sign[]
}

/** `matched` explained a finding. `stale` has not explained any. `invisible` has no signs, so it cannot. */
export type DeclarationState = 'matched' | 'stale' | 'invisible'

export interface DeclarationReport {
  readonly code: string
  readonly state: DeclarationState
  /** Number of findings that it explained. */
  readonly findings: number
  /** Comparisons of its operations so far. With none, a stale code may only lack traffic. */
  readonly comparisons: number
}

export interface ExpectedDifferences {
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
  findings: number
  comparisons: number
}

/** Compiles the declared differences. The first declaration that fits a finding gives its code. */
export function createExpected(declarations: readonly Declaration[]): ExpectedDifferences {
  const all = declarations.map(compile)
  return {
    codeOf: (asked, finding) => all.find((one) => one.visible && one.covers(asked.operation.id) && one.fits(asked, finding))?.code,
    count(operation, codes) {
      for (const one of all) {
        if (one.covers(operation)) one.comparisons += 1
        one.findings += codes.filter((code) => code === one.code).length
      }
    },
    report: () =>
      all.map(({ code, visible, findings, comparisons }) => ({ code, state: stateOf(visible, findings), findings, comparisons })),
  }
}

function stateOf(visible: boolean, findings: number): DeclarationState {
  if (!visible) return 'invisible'
  return findings > 0 ? 'matched' : 'stale'
}

function compile({ code, operations, signs = [] }: Declaration): Compiled {
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
    findings: 0,
    comparisons: 0,
  }
}
