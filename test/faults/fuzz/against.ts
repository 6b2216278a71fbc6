import type { Start } from '../process/child.ts'
import { controls } from './controls.ts'
import { sequences } from './frames/frames.ts'
import { callHeads, headsBy } from './heads/heads.ts'
import { V1_MODES, WAYS } from './heads/ways.ts'
import { hunt } from './hunt.ts'
import type { Case, Prey } from './prey.ts'
import { SMUGGLED } from './upgrades/draw.ts'
import { upgrades } from './upgrades/upgrades.ts'
import { startVictim, type Victim } from './victim.ts'

export type Note = (line: string) => void

/** Plays the cases, and looks whether everything is as before them; gives what is wrong. */
async function huntAndLook<C extends Case>(
  prey: Prey<C>,
  victim: Victim,
  cases: number,
  seed: number,
  note: Note,
): Promise<readonly string[]> {
  const begun = performance.now()
  const failures = await hunt(prey, victim, cases, seed)
  const played = ((performance.now() - begun) / 1000).toFixed(1)
  await victim.revive()
  const after = [await victim.leftovers(), await controls(victim)].filter((wrong) => wrong !== undefined)
  const all = [...failures, ...after.map((wrong) => `${prey.name}, CROSSWALK_SEED=${seed}, after ${cases} cases: ${wrong}`)]
  note(`${prey.name}: ${cases} cases in ${played} s, ${all.length === 0 ? 'nothing wrong' : `${all.length} FAILURES`}`)
  for (const failure of all) note(failure)
  return all
}

/** Heads of upstreams on every carrier, to clients of both protocols. */
export async function fuzzHeads(cases: number, seed: number, start: Start, note: Note): Promise<readonly string[]> {
  const failures: string[] = []
  for (const hasV1 of [false, true]) {
    const victim = await startVictim(hasV1 ? { modes: V1_MODES } : {}, start)
    for (const way of WAYS.filter((one) => one.hasV1 === hasV1))
      failures.push(...(await huntAndLook(headsBy(way), victim, cases, seed, note)))
    if (!hasV1) failures.push(...(await huntAndLook(callHeads, victim, cases, seed, note)))
    await victim.stop()
  }
  return failures
}

/** Sequences of HTTP/2 frames, each twice: in many writes and in one. */
export async function fuzzFrames(cases: number, seed: number, start: Start, note: Note): Promise<readonly string[]> {
  // After an error Node 20 waits for its client in vain, and this limit alone ends that.
  const victim = await startVictim({ limits: { 'idle-timeout-ms': 500 } }, start)
  const failures = await huntAndLook(sequences, victim, cases, seed, note)
  await victim.stop()
  return failures
}

/** Offers of other protocols; what stands in their bodies must never be taken for a request. */
export async function fuzzUpgrades(cases: number, seed: number, start: Start, note: Note): Promise<readonly string[]> {
  const [line = ''] = SMUGGLED.split('\r\n')
  let smuggled = 0
  const seen = (head: string) => {
    if (head.startsWith(line)) smuggled += 1
  }
  const victim = await startVictim({ seen }, start)
  const failures = await huntAndLook(upgrades, victim, cases, seed, note)
  await victim.stop()
  return smuggled === 0 ? failures : [...failures, `upgrades, CROSSWALK_SEED=${seed}: ${smuggled} requests out of a body`]
}
