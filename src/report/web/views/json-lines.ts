/** One line of a value as text, and whether the other side has it too. */
export interface Line {
  readonly text: string
  readonly mark: 'same' | 'differs'
}

/** Maximum lines for finding moved ones; longer texts are compared line by line. Values are cut when they are recorded. */
const MOST = 400

/** Returns two values as lines of JSON, and marks the lines that only one has. */
export function jsonLines(v1: unknown, v2: unknown): readonly [readonly Line[], readonly Line[]] {
  const [left, right] = [linesOf(v1), linesOf(v2)]
  const common = left.length <= MOST && right.length <= MOST ? longestCommon(left, right) : inPlace(left, right)
  const mark = (lines: readonly string[], side: 0 | 1): readonly Line[] => {
    const same = new Set(common.map((pair) => pair[side]))
    return lines.map((text, at) => ({ text, mark: same.has(at) ? 'same' : 'differs' }))
  }
  return [mark(left, 0), mark(right, 1)]
}

type Pairs = readonly (readonly [number, number])[]

function linesOf(value: unknown): readonly string[] {
  return (JSON.stringify(value, null, 2) ?? '').split('\n')
}

function inPlace(left: readonly string[], right: readonly string[]): Pairs {
  return left.flatMap((text, at) => (bare(text) === bare(right[at] ?? '') ? [[at, at] as const] : []))
}

/** Returns the longest common subsequence by the usual table. */
function longestCommon(left: readonly string[], right: readonly string[]): Pairs {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  const equal = (i: number, j: number) => bare(left[i] ?? '') === bare(right[j] ?? '')
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = lengths[i]
      if (row) row[j] = equal(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: (readonly [number, number])[] = []
  for (let [i, j] = [0, 0]; i < left.length && j < right.length; ) {
    if (equal(i, j)) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}

/** Drops a comma at the end, which only says that another member follows. */
function bare(line: string): string {
  return line.replace(/,$/, '')
}
