import type { Prey } from '../prey.ts'
import { openRpcAsker } from './ask.ts'
import { drawCall, type RpcCase } from './draw.ts'
import { wrongWith } from './judge-rpc.ts'

/** Calls of every method over gRPC, gRPC-Web and Connect, valid and not. */
export const rpcCalls: Prey<RpcCase> = {
  name: 'rpc',
  draw: drawCall,
  show: ({ parts, ...one }) => `  ${JSON.stringify(one)}\n${parts.map(showPart).join('\n')}`,
  players: ({ url }, count) =>
    Array.from({ length: count }, () => {
      const { ask, close } = openRpcAsker(url)
      return { play: async (one) => wrongWith(one, await ask(one)), close }
    }),
}

const showPart = (part: RpcCase['parts'][number]) => `  ${'header' in part ? part.header.join(': ') : part.bytes.toString('hex')}`
