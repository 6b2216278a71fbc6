import { type FileHandle, open } from 'node:fs/promises'
import { entryOf } from './read-entries.ts'

/** Some consecutive lines of a record file. */
export interface RecordBlock {
  /** Time of its oldest entry, in milliseconds since 1970. */
  readonly from: number
  /** Reads its lines again; empty ones are left out. */
  lines(): Promise<readonly string[]>
}

/** An open record file. */
export interface RecordBlocks {
  readonly path: string
  /** Blocks with at least one entry. */
  readonly blocks: readonly RecordBlock[]
  /** Numbers of lines that are entries, and that are not. */
  readonly entries: number
  readonly skipped: number
  close(): Promise<void>
}

/** Bytes of a block: about 1,500 entries. A line that is longer is no entry. */
const BLOCK = 1024 * 1024

/**
 * Finds the times of a record file in blocks. The file stays open, so that its blocks stay what they were if it is renamed meanwhile.
 * Lines that a running proxy appends later belong to no block. A pipe cannot be read twice, so its lines are kept. Rejects if the file
 * cannot be read.
 */
export async function openBlocks(path: string, bytes: number = BLOCK): Promise<RecordBlocks> {
  const file = await open(path)
  try {
    const isPipe = !(await file.stat()).isFile()
    const blocks: RecordBlock[] = []
    let [entries, skipped, start] = [0, 0, 0]
    for await (const piece of piecesOf(file.createReadStream({ autoClose: false }), bytes)) {
      const lines = linesIn(piece)
      const times = lines.flatMap((line) => timeOf(line) ?? [])
      const from = times.reduce((oldest, at) => Math.min(oldest, at), Number.POSITIVE_INFINITY)
      const [at, length] = [start, piece.length]
      if (times.length > 0) blocks.push({ from, lines: async () => (isPipe ? lines : linesIn(await readAt(file, at, length))) })
      entries += times.length
      skipped += lines.length - times.length
      start += length
    }
    return { path, blocks, entries, skipped, close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

function timeOf(line: string): number | undefined {
  const entry = entryOf(line)
  return entry && Date.parse(entry.at)
}

/** Yields pieces that end with a line, of about this many bytes. */
async function* piecesOf(stream: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    held.push(chunk)
    size += chunk.length
    if (size < bytes) continue
    const all = Buffer.concat(held)
    const end = all.lastIndexOf('\n') + 1 || all.length
    yield all.subarray(0, end)
    held = [all.subarray(end)]
    size = all.length - end
  }
  if (size > 0) yield Buffer.concat(held)
}

/** JSON may hold U+2028 and U+2029 unescaped: they end no line. */
function linesIn(piece: Buffer): readonly string[] {
  const lines = piece.toString('utf8').split('\n')
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)).filter((line) => line !== '')
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}
