import { callOf } from '../../compat/rpc/call.ts'
import type { Client } from '../../compat/rpc/carry.ts'
import { connectClient } from '../../compat/rpc/connect-client.ts'
import { grpcClient } from '../../compat/rpc/grpc-client.ts'
import type { Answer } from '../../compat/target.ts'
import type { Fault } from '../fault.ts'
import { inWorld } from '../world.ts'
import type { Expected, UpstreamFault } from './carriers.ts'

const WAYS: Readonly<Record<string, (url: string) => Client>> = { gRPC: grpcClient, Connect: connectClient }

const READ = callOf({ method: 'GET', path: '/iam/v1/groups' })
const WRITE = callOf({ method: 'POST', path: `/iam/v1/groups/${'a'.repeat(40)}`, text: '{"name":"x"}' })

/** The fault that also runs in `npm test`. Each proxy prepares itself for its first call anew. */
const QUICK = 'reset before headers, for gRPC'

/** The same fault of an upstream for calls of gRPC and Connect: the same codes, but a write that may have been done is never UNAVAILABLE. */
export function rpcFaults({ name, behaviour = () => {}, settings = {}, expected }: UpstreamFault): readonly Fault[] {
  return Object.entries(WAYS).map(([way, clientOf]) => ({
    name: `${name}, for ${way}`,
    expected: expectedOf(expected),
    ...(`${name}, for ${way}` !== QUICK && { full: true as const }),
    see: () =>
      inWorld(behaviour, settings, async ({ proxy, upstream }) => {
        const client = clientOf(proxy.url)
        const said: string[] = []
        for (const call of [READ, WRITE]) {
          const before = upstream.seen.length
          const answer = await client.call(call, undefined)
          said.push(`${sayAnswer(answer)} ×${upstream.seen.length - before}`)
        }
        client.close()
        return `read ${said[0]} · write ${said[1]}`
      }),
  }))
}

function sayAnswer({ status, body }: Answer): string {
  if (status === 200) return body.items === undefined ? '200' : `200, ${body.items.length} rows`
  return `${status}/${body.code}`
}

/** Clients of gRPC repeat a call that is UNAVAILABLE, so that UNKNOWN is said of a write that was sent (semantics of Terraform's provider). */
function expectedOf({ read = '', write = '' }: Expected): string {
  const plain = (text: string) => text.replace(/, again after \d+ s/, '')
  return `read ${plain(read)} · write ${plain(write).replace(/^503\/14 ×(?=[1-9])/, '500/2 ×')}`
}
