import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld, serving } from '../world.ts'

/** Request targets that name another host; whatever they say, only our own upstream may be asked. */
const ELSEWHERE = ['http://169.254.169.254/latest', '//169.254.169.254/latest', '/\\169.254.169.254/latest', '/@169.254.169.254/latest']

async function otherHosts(): Promise<string> {
  return inWorld(serving(3), { 'upstream.v1': undefined }, async ({ proxy, upstream }) => {
    const said: string[] = []
    for (const target of ELSEWHERE) {
      const { answers } = await talk(proxy.url, `GET ${target} HTTP/1.1\r\nhost: 169.254.169.254\r\nconnection: close\r\n\r\n`)
      said.push(say(answers[0]))
    }
    const hosts = new Set(upstream.seen.map(({ headers }) => headers.host === new URL(upstream.url).host))
    return `${said.join(', ')}; ${upstream.seen.length} passed on, our upstream's host: ${[...hosts].join()}`
  })
}

export const targetAttacks: readonly Fault[] = [
  {
    name: 'a target that names another host',
    expected: "400/3, 200, 200, 200; 3 passed on, our upstream's host: true",
    see: otherHosts,
  },
]
