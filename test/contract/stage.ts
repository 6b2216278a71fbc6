import type { Sandbox } from '../../src/sandbox/start.ts'
import { startQuietSandbox, startStage } from '../stage/stage.ts'
import type { Dialect, Role, Side, Target } from './target.ts'

/** Both sides of the contract in one dialect: a genuine v1, and the proxy in front of another sandbox's v2 with the same data. */
export type Sides = Awaited<ReturnType<typeof startSides>>

export type Genuine = Awaited<ReturnType<typeof startGenuine>>

const START = Date.UTC(2026, 4, 1, 12)

/** Starts both sides on free ports. Their clocks only advance one second before each request, so that both have the same time. */
export async function startSides(dialect: Dialect) {
  const genuine = await startGenuine(dialect)
  const behind = await sandbox(dialect)
  // Each dialect uses one of the masks: both replace everything that v1 can see.
  const mask = dialect === 'published' ? 'known' : '*'
  const proxy = await startStage({
    v1: null,
    v2: behind.url,
    proxy: { 'v1.dialect': dialect, 'v2.replaceMask': mask, 'log.level': 'error' },
  })
  return {
    genuine: genuine.target,
    proxied: target(proxy.url, 'proxied', dialect, behind),
    close: async () => {
      await proxy.close()
      await Promise.all([genuine.close(), behind.close()])
    },
  }
}

export async function startGenuine(dialect: Dialect) {
  const genuine = await sandbox(dialect)
  return { target: target(genuine.url, 'genuine', dialect, genuine), close: genuine.close }
}

/** The token of an exchange is valid for an hour. */
const LATER = 2 * 60 * 60 * 1000

/** Starts a sandbox at which the owner's exchanged token has just expired. */
async function sandbox(dialect: Dialect) {
  const clock = { now: START }
  // Each dialect uses one of v2's two behaviours: the contract must not depend on it.
  const readmeMovesRepo = dialect === 'published'
  const started = await startQuietSandbox({ v1Dialect: dialect, now: () => clock.now, readmeMovesRepo })
  const expired = await exchanged(started)
  clock.now += LATER
  return { ...started, clock, expired }
}

type Started = Awaited<ReturnType<typeof sandbox>>

async function exchanged({ url, tokens }: Sandbox): Promise<string> {
  const answer = await fetch(`${url}/sts/exchange?aud=contract`, { method: 'POST', headers: { authorization: `Bearer ${tokens.owner}` } })
  return ((await answer.json()) as { token: string }).token
}

function target(url: string, side: Side, dialect: Dialect, { organization, tokens, clock, expired }: Started): Target {
  const others: Readonly<Record<Exclude<Role, keyof typeof tokens>, string | undefined>> = {
    nobody: undefined,
    stranger: 'no-such-token',
    expired,
  }
  const token = (role: Role) => (role in others ? others[role as keyof typeof others] : tokens[role as keyof typeof tokens])
  const tick = () => {
    clock.now += 1000
  }
  return { url, side, dialect, organization, token, run: 'suite', tick }
}
