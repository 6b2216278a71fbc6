import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openBlocks, readEntries } from '../../../src/migrate/records/record-file.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { type Behaviour, inWorld, listOf } from '../world.ts'
import { program } from './child.ts'

const KILLS = 10

/** Runs the writer until it reports that it has written for a while, and kills it during a write. */
function writeAndDie(path: string, first: number): Promise<void> {
  const child = spawn(process.execPath, [program('./write-records.js'), path, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  createInterface({ input: child.stdout }).once('line', () => child.kill('SIGKILL'))
  return ended
}

interface Written {
  readonly number: number
  readonly padding: string
  readonly sum: string
}

async function killed(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-records-'))
  const path = join(directory, 'records.ndjson')
  let bad = 0
  let last = -1
  for (let kill = 0; kill < KILLS; kill++) await writeAndDie(path, (kill + 1) * 1_000_000 - 1)
  for await (const entry of readEntries(path)) {
    const { number, padding, sum } = entry as unknown as Written
    if (number <= last || sum !== createHash('sha256').update(`${number} ${padding}`).digest('hex')) bad += 1
    last = number
  }
  const { entries, skipped, close } = await openBlocks(path)
  await close()
  rmSync(directory, { recursive: true })
  const torn = skipped <= KILLS ? 'one torn line a kill at most' : `${skipped} torn lines`
  return `${entries > 0 ? 'records' : 'nothing'} read back, ${bad} of them damaged or doubled, ${torn}`
}

/** Both services in one, so that v1 and v2 agree. */
const both: Behaviour = ({ url = '' }, response) => {
  const list = url.startsWith('/iam/v1') ? '{"items":[]}' : listOf(0)
  response.writeHead(200, { 'content-type': 'application/json' }).end(list)
}

const ASKED = 20

async function diskFull(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-records-'))
  const path = join(directory, 'records.ndjson')
  const rules = { default: 'diff-v1' as const, rules: [], testers: [] }
  const seen = await inWorld(both, { modes: rules, 'records.file': path, 'diff.learnEvery': 0 }, async ({ proxy }) => {
    // Uses different callers: repeated requests of one caller are recorded once.
    const ask = async (callers: string) => {
      const said = new Set<string>()
      for (let nth = 0; nth < ASKED; nth++) {
        const request = `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: ${callers}-${nth}\r\n\r\n`
        said.add(say((await talk(proxy.url, request, 1)).answers[0]))
      }
      return [...said].join(', ')
    }
    const records = async () => {
      const { records: told } = (await (await fetch(`${proxy.adminUrl}/evidence`)).json()) as {
        records: { dropped: number; problem?: string }
      }
      return told
    }
    unlinkSync(path)
    symlinkSync('/dev/full', path)
    const full = await ask('a')
    await until(async () => (await records()).dropped >= ASKED)
    const { problem = '' } = await records()
    unlinkSync(path)
    const after = await ask('b')
    await until(async () => linesIn(path) >= ASKED)
    return `${full}; drops counted, ${problem}; with room again ${after}, written`
  })
  rmSync(directory, { recursive: true })
  return seen
}

function linesIn(path: string): number {
  try {
    return readFileSync(path, 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

export const recordFaults: readonly Fault[] = [
  {
    name: 'kill -9 while records are written',
    expected: 'records read back, 0 of them damaged or doubled, one torn line a kill at most',
    full: true,
    see: killed,
  },
  {
    name: 'no room on the disk for records',
    expected: '200, 0 rows; drops counted, the disk is full; with room again 200, 0 rows, written',
    full: true,
    see: diskFull,
  },
]
