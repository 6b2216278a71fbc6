/** Returns the end of a sentence about a wrong word: `did you mean "roles"?`, or `otherwise` if no candidate is close enough. */
export function suggestion(word: string, candidates: readonly string[], otherwise: string): string {
  const near = nearest(word, candidates)
  return near === undefined ? otherwise : `did you mean "${near}"?`
}

/** Returns the candidate with the fewest edits, or undefined if none is close enough to be a typing error. A beginning that all share is no likeness. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const own = word.length - sharedBeginning([word, ...candidates])
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  return best && best.edits <= Math.max(2, own / 3) ? best.candidate : undefined
}

/** The number of characters with which all words begin. */
function sharedBeginning([first = '', ...others]: readonly string[]): number {
  let length = 0
  while (length < first.length && others.every((other) => other[length] === first[length])) length += 1
  return length
}

/** The Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
