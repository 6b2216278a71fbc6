/** One thing that goes wrong, and what a client must see of it. */
export interface Fault {
  readonly name: string
  /** Word for word what `see` must give; two answers that are both right are two lines. */
  readonly expected: string | readonly string[]
  /** Brings the fault about, asks, puts everything away, and says what was seen. */
  readonly see: () => Promise<string>
  /** Needs built programs or more time than `npm test` has. */
  readonly full?: true
  /** Program without which it cannot be brought about; it is left out, and said so, where the program is missing. */
  readonly needs?: string
}

/** Faults of one origin. */
export interface Group {
  readonly name: string
  readonly faults: readonly Fault[]
}

/** A fault that was brought about. */
export interface Row {
  readonly group: string
  readonly name: string
  readonly expected: string
  readonly seen: string
  readonly holds: boolean
}

/** Milliseconds after which a fault counts as a hang. */
const PATIENCE = 60_000

/** Brings one fault about; whatever it throws is what was seen. */
export async function observe(group: string, { name, expected, see }: Fault): Promise<Row> {
  const right = typeof expected === 'string' ? [expected] : expected
  const seen = await withPatience(see())
  return { group, name, expected: right.join(' or '), seen, holds: right.includes(seen) }
}

async function withPatience(seen: Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`nothing within ${PATIENCE} ms`), PATIENCE)
  })
  try {
    return await Promise.race([seen, late])
  } catch (error) {
    return `the test itself failed: ${(error as Error).stack}`
  } finally {
    clearTimeout(timer)
  }
}

/** The table that people read. */
export function tableOf(rows: readonly Row[]): string {
  const line = ({ group, name, expected, seen, holds }: Row) =>
    `${[`${group}: ${name}`, expected, seen, holds ? 'holds' : 'FAILS'].map(cell).join(' | ')} |`
  return ['| Fault | Expected | Seen | |', '|---|---|---|---|', ...rows.map((row) => `| ${line(row)}`)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
}
