/** One fault, and what a client must see of it. */
export interface Fault {
  readonly name: string
  /** The exact result of `see`. Two correct answers are two lines. */
  readonly expected: string | readonly string[]
  /** Causes the fault, sends requests, cleans up, and returns what the client saw. */
  readonly see: () => Promise<string>
  /** True if it needs built programs or more time than `npm test` has. */
  readonly full?: true
  /** Milliseconds after which the fault counts as a hang, if it measures for longer than others. */
  readonly patienceMs?: number
  /** A program that the fault needs. Without it the fault is skipped with a message. */
  readonly needs?: string
}

/** Faults of one origin. */
export interface Group {
  readonly name: string
  readonly faults: readonly Fault[]
}

/** The result of a fault. */
export interface Row {
  readonly group: string
  readonly name: string
  readonly expected: string
  readonly seen: string
  readonly holds: boolean
}

/** Milliseconds after which a fault counts as a hang, unless it says another number. */
const PATIENCE = 60_000

/** Causes one fault; its exception counts as the result. */
export async function observe(group: string, { name, expected, see, patienceMs = PATIENCE }: Fault): Promise<Row> {
  const right = typeof expected === 'string' ? [expected] : expected
  const seen = await withPatience(see(), patienceMs)
  return { group, name, expected: right.join(' or '), seen, holds: right.includes(seen) }
}

async function withPatience(seen: Promise<string>, patienceMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`nothing within ${patienceMs} ms`), patienceMs)
  })
  try {
    return await Promise.race([seen, late])
  } catch (error) {
    return `the test itself failed: ${(error as Error).stack}`
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the table for people to read. */
export function tableOf(rows: readonly Row[]): string {
  const line = ({ group, name, expected, seen, holds }: Row) =>
    `${[`${group}: ${name}`, expected, seen, holds ? 'holds' : 'FAILS'].map(cell).join(' | ')} |`
  return ['| Fault | Expected | Seen | |', '|---|---|---|---|', ...rows.map((row) => `| ${line(row)}`)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
}
