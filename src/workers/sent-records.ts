import type { RecordFile } from '../migrate/records/record-file.ts'
import type { Line } from './line.ts'

/** Some lines for the record file, and how many more wait for their turn. */
export interface SentLines {
  readonly lines: readonly string[]
  readonly waiting: number
}

export interface SentRecordsSettings {
  /** Maximum lines that are sent and not yet written. */
  readonly window: number
  /** Maximum lines that wait beyond those; further ones are dropped. */
  readonly waiting: number
}

/**
 * The record file as a worker has it: the supervisor writes it. Lines leave at the end of the turn that made them, so that a worker that
 * dies takes few along. A slow disk makes them wait here.
 */
export function createSentRecords(line: Pick<Line, 'ask'>, { window, waiting }: SentRecordsSettings): RecordFile {
  let held: string[] = []
  let isScheduled = false
  let underWay = 0
  let dropped = 0
  let problem: string | undefined
  let whenEmpty: (() => void)[] = []

  const send = async () => {
    isScheduled = false
    const lines = held.slice(0, window - underWay)
    if (lines.length === 0) return
    held = held.slice(lines.length)
    underWay += lines.length
    const sent: SentLines = { lines, waiting: held.length }
    try {
      problem = (await line.ask('records', sent)) as string | undefined
    } catch (error) {
      dropped += lines.length
      problem = (error as Error).message
    }
    underWay -= lines.length
    if (held.length > 0) void send()
    if (held.length + underWay > 0) return
    for (const resolve of whenEmpty) resolve()
    whenEmpty = []
  }
  return {
    add(text) {
      if (held.length >= waiting) dropped += 1
      else held.push(text)
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => void send())
    },
    flush: async () => {
      if (held.length + underWay > 0) await new Promise<void>((resolve) => void whenEmpty.push(resolve))
    },
    dropped: () => dropped,
    problem: () => problem,
  }
}
