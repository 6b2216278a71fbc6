/** How much is compared. It may change while the proxy serves, so that it is read at each use. */
export interface LiveComparing {
  /** Maximum comparisons per second, and at once after a pause; 0 = unlimited. */
  readonly perSecond: number
  /** Every n-th compared read asks v1 twice, to learn which members change by themselves; 0 = none. */
  readonly learnEvery: number
  /** Read a resource through both sides after it was written. */
  readonly verifyWrites: boolean
  /** Share of the requests of an open circuit that are compared, 0–100. If it is not 0, comparisons may close the circuit. */
  readonly probePercent: number
}
