import type { Report } from '../admin/report/report.ts'

/** Whether callers can be moved to the next functions, as `crosswalk cutover` says it. */
export interface FunctionVerdict extends Pick<Report, 'target' | 'ready' | 'reasons'> {
  /**
   * `READY`: at 95 %, every name has at most `target` wrong answers. `NOT READY`: one has more. `INCONCLUSIVE`: too little is known, never a
   * pass.
   */
  readonly verdict: 'READY' | 'NOT READY' | 'INCONCLUSIVE'
  /** For a command: 0 if ready, 1 if not, 3 if earlier records could not be read. */
  readonly exitCode: 0 | 1 | 3
}

/** `unread` says why earlier records could not be read; nobody knows what they held. */
export function verdictOn({ target, ready, reasons, operations }: Report, unread: string | undefined): FunctionVerdict {
  if (unread !== undefined) return { verdict: 'INCONCLUSIVE', exitCode: 3, target, ready: false, reasons: [unread, ...reasons] }
  if (ready) return { verdict: 'READY', exitCode: 0, target, ready, reasons }
  const isWrong = operations.some(({ blocks, standing }) => blocks && standing === 'outside')
  return { verdict: isWrong ? 'NOT READY' : 'INCONCLUSIVE', exitCode: 1, target, ready, reasons }
}
