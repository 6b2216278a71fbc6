import { createHash } from 'node:crypto'
import { createRecordFile, RECORD_FILE } from '../../../../src/migrate/records/record-file.ts'

/** Writes records with their own checksums until it is killed; the arguments are the file and the first number. */
const [, , path = '', first = '0'] = process.argv
const file = createRecordFile({ ...RECORD_FILE, path })
const PADDING = 'x'.repeat(20_000)

/** Numbers increase, so that a lost or doubled record is visible. */
const checksum = (number: number) => createHash('sha256').update(`${number} ${PADDING}`).digest('hex')

async function writeOn(): Promise<void> {
  for (let number = Number(first); ; number++) {
    const note = { kind: 'note', at: new Date(0).toISOString(), what: 'restart', text: '' }
    file.add(JSON.stringify({ ...note, number, padding: PADDING, sum: checksum(number) }))
    if (number % 20 === 0) await file.flush()
    if (number % 200 === 0) process.stdout.write(`${number}\n`)
  }
}

await writeOn()
