import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../stage/until.ts'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { serving } from '../world.ts'
import { type Child, serve } from './child.ts'
import { crowd, placeOf, QUICK_STEPS, rollingModes, rollout, sendUntil, sides } from './crowd.ts'

/** A process with the rollout of `QUICK_STEPS`, its records, and what v2 answers. */
interface Restarted {
  readonly records: string
  /** Breaks v2, or mends it. */
  setBroken(isBroken: boolean): void
  /** Starts the process on the records. */
  start(): Promise<Child>
  /** Resolves when the rollout is there and the records say so. */
  reach(child: Child, phase: string): Promise<string>
}

async function inProcess(use: (restarted: Restarted) => Promise<string>): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-rollout-'))
  const [records, config] = [join(directory, 'records.ndjson'), join(directory, 'config.json')]
  writeFileSync(config, JSON.stringify({ modes: rollingModes(QUICK_STEPS) }))
  let v2 = serving(0)
  const upstream = await startUpstream(sides({ v2: (...given) => v2(...given) }))
  const settings = { 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, config, 'records-file': records, 'diff-per-second': 0 }
  const started: Child[] = []
  try {
    return await use({
      records,
      setBroken: (isBroken) => {
        v2 = serving(isBroken ? 1 : 0)
      },
      async start() {
        const child = await serve(settings)
        started.push(child)
        return child
      },
      async reach(child, phase) {
        const place = placeOf(await sendUntil(child, (status) => placeOf(status).startsWith(phase)))
        await until(async () => lastSaved(records).includes(`"phase":"${phase.split(',')[0]}","at":${place.includes('step 2') ? 1 : 0}`))
        return place
      },
    })
  } finally {
    await Promise.all(started.filter((child) => child.isAlive()).map((child) => child.stop('SIGKILL')))
    await upstream.close()
    rmSync(directory, { recursive: true })
  }
}

const lastSaved = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .findLast((line) => line.includes('"kind":"rollout"')) ?? ''

function killed(): Promise<string> {
  return inProcess(async ({ setBroken, start, reach }) => {
    const seen: string[] = []
    let child = await start()
    const restart = async () => {
      await child.stop('SIGKILL')
      child = await start()
      seen.push(placeOf(await rollout(child)))
    }
    seen.push(await reach(child, 'running, step 2'))
    await restart()
    setBroken(true)
    seen.push(await reach(child, 'turned-back'))
    await restart()
    return [...seen, `clients get ${await crowd(child)}`].join(' > ')
  })
}

/** Starts anew on records that were lost or spoilt, in each state. Returns the shares before and after. */
function restartedOn(spoil: (path: string) => void): () => Promise<string> {
  return () =>
    inProcess(async ({ records, setBroken, start, reach }) => {
      const seen: string[] = []
      for (const [phase, isBroken] of [
        ['running, step 2', false],
        ['turned-back', true],
      ] as const) {
        const child = await start()
        setBroken(isBroken)
        seen.push(await reach(child, phase))
        await child.stop('SIGKILL')
        spoil(records)
        const again = await start()
        seen.push(placeOf(await rollout(again)))
        await again.stop('SIGKILL')
        setBroken(false)
      }
      return seen.join(' > ')
    })
}

/** Cuts the last line about the rollout, as a crash in the middle of writing does. */
function cutLast(path: string): void {
  const text = readFileSync(path, 'utf8')
  const line = lastSaved(path)
  truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf(line) + Math.floor(line.length / 2))))
}

export const rolloutRestartFaults: readonly Fault[] = [
  {
    name: 'kill -9 during a step of a rollout, and after it turned back',
    expected:
      'running, step 2 of 2, 60 % > running, step 2 of 2, 60 % > turned-back, step 2 of 2, 0 % > turned-back, step 2 of 2, 0 % > clients get 200',
    full: true,
    see: killed,
  },
  {
    name: 'the records of a rollout are lost',
    expected: 'running, step 2 of 2, 60 % > running, step 1 of 2, 50 % > turned-back, step 1 of 2, 0 % > running, step 1 of 2, 50 %',
    full: true,
    see: restartedOn((path) => rmSync(path)),
  },
  {
    name: 'the last record of a rollout is cut',
    expected: 'running, step 2 of 2, 60 % > running, step 1 of 2, 50 % > turned-back, step 1 of 2, 0 % > turned-back, step 1 of 2, 0 %',
    full: true,
    see: restartedOn(cutLast),
  },
]
