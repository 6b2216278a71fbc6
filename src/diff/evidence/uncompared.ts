/** Why a request in a diff mode was not compared, or why its comparison has no result. */
export type Uncompared = keyof typeof UNCOMPARED

/** Numbers of requests by reason. Reasons without any are left out. */
export type UncomparedCounts = Partial<Readonly<Record<Uncompared, number>>>

interface Meaning {
  /** Completes "N requests …". */
  readonly because: string
  /** What to change, if anything helps. */
  readonly change?: string
}

/** Says of each reason what it means and what to change. */
export const UNCOMPARED = {
  answerBytes: { because: 'had an answer larger than diff.answerBytes', change: 'raise diff.answerBytes' },
  perSecond: { because: 'came when diff.perSecond was spent', change: 'raise diff.perSecond' },
  waiting: { because: 'found no room among the waiting comparisons', change: 'raise diff.waiting, diff.waitingBytes or diff.parallel' },
  pageToken: { because: 'continued a list of which the page before was not compared' },
  gone: { because: 'lost the client before the answer was whole' },
  unreadable: { because: 'wrote what no read shows' },
  unverified: { because: 'wrote, and diff.verifyWrites is off', change: 'switch diff.verifyWrites on' },
  uncopied: { because: 'had arguments that cannot be copied', change: 'give the option copy' },
  malformed: { because: 'could not be read by the tables' },
  repeat: { because: 'repeated what was compared in the last ten minutes' },
  v1Failed: { because: 'got an error of v1 itself', change: 'look at v1' },
  refused: { because: 'got a 401, or a 403 of one side alone', change: 'look at the rights of the callers' },
  other: { because: 'had answers that cannot be compared', change: 'look at the records' },
} as const satisfies Readonly<Record<string, Meaning>>

/** Returns one sentence for each reason, most requests first: `12 requests had an answer larger than diff.answerBytes: raise diff.answerBytes.` */
export function uncomparedSentences(counts: UncomparedCounts): readonly string[] {
  const known = (Object.entries(counts) as [Uncompared, number][]).filter(([why, count]) => count > 0 && why in UNCOMPARED)
  return known
    .sort(([, a], [, b]) => b - a)
    .map(([why, count]) => {
      const { because, change }: Meaning = UNCOMPARED[why]
      return `${count} ${count === 1 ? 'request' : 'requests'} ${because}${change === undefined ? '' : `: ${change}`}.`
    })
}
