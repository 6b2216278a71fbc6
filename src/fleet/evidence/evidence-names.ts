/** Evidence of different epochs never merges: other tables, or another v2, answer otherwise. */
export interface Epoch {
  /** Grows with each epoch that a person begins; 0 before the first. */
  readonly nth: number
  /** Stands for the mapping tables and the v2 build. */
  readonly hash: string
}

/** The names in the store of what is counted in an epoch. */
export interface EvidenceNames {
  /** Tells the epoch from every other. */
  readonly epoch: string
  readonly evidence: string
  /** The new observations of an hour since 1970. */
  pace(hour: number): string
  /** What declared differences explained. */
  readonly declared: string
  /** Calls, whatever answers them: a new v2 must not forget what clients call. */
  readonly traffic: string
}

export function evidenceNames({ nth, hash }: Epoch): EvidenceNames {
  const epoch = `${nth}-${hash}`
  return {
    epoch,
    evidence: `evidence:${epoch}`,
    pace: (hour) => `pace:${epoch}:${hour}`,
    declared: `declared:${epoch}`,
    traffic: `traffic:${nth}`,
  }
}

/** The field of a figure of an operation. */
export function fieldOf(figure: string, operation: string): string {
  return `${figure} ${operation}`
}
