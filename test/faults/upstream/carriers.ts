import type { Config } from '../../../src/app/config/settings.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { type Behaviour, inWorld } from '../world.ts'

/** One request for each way to an upstream: a translated read and write, passed through to v2, passed on to v1. */
const REQUESTS = {
  read: 'GET /iam/v1/groups',
  write: `POST /iam/v1/groups/${'a'.repeat(40)}`,
  native: 'GET /iam/v2/groups',
  v1: 'GET /registry/v1/vuln_reports',
} as const

type Carrier = keyof typeof REQUESTS

/** The result of the fault for each carrier, and how often it may ask: `503/14 ×2`. */
export type Expected = Readonly<Partial<Record<Carrier, string>>>

export interface UpstreamFault {
  readonly name: string
  readonly behaviour?: Behaviour
  readonly settings?: Partial<Config>
  readonly expected: Expected
}

/** Without a `behaviour`, nothing listens at the address of the settings. */
export function upstreamFault({ name, behaviour = () => {}, settings = {}, expected }: UpstreamFault): Fault {
  return {
    name,
    expected: sentence(expected),
    see: () =>
      inWorld(behaviour, settings, async ({ proxy, upstream }) => {
        const seen: Partial<Record<Carrier, string>> = {}
        for (const carrier of carriersOf(expected)) {
          const request = REQUESTS[carrier]
          const before = upstream.seen.length
          const { answers } = await talk(proxy.url, httpOf(request), 1)
          seen[carrier] = `${say(answers[0])} ×${upstream.seen.length - before}`
        }
        return sentence(seen)
      }),
  }
}

function httpOf(request: string): string {
  const body = request.startsWith('POST') ? '{"name":"x"}' : ''
  return `${request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Returns the carriers that the fault concerns. */
function carriersOf(expected: Expected): readonly Carrier[] {
  return (Object.keys(REQUESTS) as Carrier[]).filter((carrier) => expected[carrier] !== undefined)
}

function sentence(expected: Expected): string {
  return carriersOf(expected)
    .map((carrier) => `${carrier} ${expected[carrier]}`)
    .join(' · ')
}
