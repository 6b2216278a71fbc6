import { mergedEntries, type ReadCount } from './merged-entries.ts'
import type { Entry } from './record.ts'
import { checkRecordFile, createRecordFile, RECORD_FILE, type RecordFile, type RecordFileSettings, recordFilesOf } from './record-file.ts'

/** Where what is recorded is kept. */
export interface RecordsSettings {
  readonly memory: number
  readonly file?: Omit<RecordFileSettings, 'waiting'> | undefined
  /** Writes the lines in place of the file, if another process has it. */
  readonly writer?: RecordFile | undefined
}

/** Opens what lines are written to; undefined if they are kept in memory only. */
export function openRecords({ file, writer }: RecordsSettings): RecordFile | undefined {
  return writer ?? (file && createRecordFile({ ...file, waiting: RECORD_FILE.waiting }))
}

/** Yields what earlier processes recorded, in the order of its times. Rejects with a sentence if the file cannot be written. */
export async function* earlierEntries({ file }: RecordsSettings, count: ReadCount): AsyncGenerator<Entry> {
  if (file) await checkRecordFile(file.path)
  yield* mergedEntries(recordFilesOf(file), count)
}
