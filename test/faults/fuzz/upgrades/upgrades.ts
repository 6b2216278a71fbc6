import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { readAnswers, type Talk, talk } from '../../wire.ts'
import { scriptOf } from '../heads/draw.ts'
import type { Prey } from '../prey.ts'
import { NO_KEY } from '../upstream/script.ts'
import type { ScriptedUpstream } from '../upstream/server.ts'
import { drawUpgrade, type UpgradeCase } from './draw.ts'

/** Offers of another protocol among other requests on one connection. */
export const upgrades: Prey<UpgradeCase> = {
  name: 'upgrades',
  draw: drawUpgrade,
  show: (one) => JSON.stringify(one),
  players: ({ url, upstream }, count) =>
    Array.from({ length: count }, () => {
      let socket: Socket | undefined
      const opened = (fresh: Socket) => {
        socket = fresh
      }
      const play = async (one: UpgradeCase) => {
        const keys = one.parts.map(() => upstream.newKey())
        one.parts.forEach(({ offers }, at) => {
          if (offers) upstream.play(keys[at] ?? '', scriptOf(one.answer, keys[at] ?? ''))
        })
        const talked = await converse(url(), one, keys, opened)
        for (const key of keys) upstream.forget(key)
        return outOfStep(talked, keys, upstream)
      }
      return { play, close: () => socket?.destroy() }
    }),
}

function converse(
  url: string,
  { parts, leaves, writes }: UpgradeCase,
  keys: readonly string[],
  opened: (socket: Socket) => void,
): Promise<Talk> {
  const texts = parts.map(({ text }, at) => text.replaceAll(NO_KEY, keys[at] ?? ''))
  const heads = parts.flatMap(({ isHead }, at) => (isHead ? [at] : []))
  const whole = writes === 'together' ? [texts.join('')] : texts
  const speak = async (socket: Socket) => {
    opened(socket)
    for (const text of leaves === 'halved' ? [texts.join('').slice(0, texts.join('').length / 2)] : whole) {
      if (socket.destroyed) return
      socket.write(text, 'latin1')
      await setImmediate()
    }
    if (leaves === 'fin') socket.end()
    if (leaves === 'reset' || leaves === 'halved') socket.resetAndDestroy()
  }
  const isEnough = (received: string) => {
    const answers = readAnswers(received, false, heads).filter(({ broken }) => !broken)
    return answers.some(({ status }) => status === 101) || answers.filter(({ status }) => status >= 200).length >= parts.length
  }
  return talk(url, (socket) => void speak(socket), isEnough, heads)
}

/** Checks that answers arrive in the order of their requests; those of the proxy itself have no key. */
function outOfStep({ answers }: Talk, keys: readonly string[], upstream: ScriptedUpstream): string | undefined {
  const final = answers.filter(({ status }) => status === 101 || status >= 200)
  const at = final.findIndex(({ headers, body }, nth) => {
    const own = keys[nth] === undefined ? [] : [keys[nth]]
    return upstream.foreignIn(`${[...headers.values()].join('\n')}\n${body}`, own) !== undefined
  })
  return at < 0 ? undefined : `out of step: answer ${at} of ${keys.join()}: ${JSON.stringify(final[at])?.slice(0, 600)}`
}
