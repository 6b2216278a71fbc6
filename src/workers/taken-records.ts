import type { RecordFile } from '../migrate/records/record-file.ts'
import type { SentLines } from './sent-records.ts'

/** The record file of all workers. */
export interface TakenRecords extends RecordFile {
  /** Opens the way for the lines of one worker. */
  fromWorker(): WorkerLines
}

export interface WorkerLines {
  /** Writes lines. Resolves when they are written or dropped, with the reason why the file cannot be written. */
  take(sent: SentLines): Promise<string | undefined>
  /** The worker has died: what it still held is lost, as far as it has told. */
  died(): void
}

export function createTakenRecords(file: RecordFile): TakenRecords {
  let lost = 0
  return {
    ...file,
    dropped: () => file.dropped() + lost,
    fromWorker() {
      let waiting = 0
      return {
        async take(sent) {
          for (const line of sent.lines) file.add(line)
          waiting = sent.waiting
          await file.flush()
          return file.problem()
        },
        died() {
          lost += waiting
        },
      }
    },
  }
}
