import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../migrate/records/record.ts'
import { peerOf } from '../../serve/http/forwarded.ts'
import type { Rights } from './rights.ts'

/** Tells who sent a request to the admin port: the name of the token and the address of the connection, never the token. */
export type ActorOf = (request: Pick<FastifyRequest, 'headers' | 'socket'>) => Actor

export function createActorOf(rights: Rights): ActorOf {
  return ({ headers, socket }) => {
    const { token } = rights(headers.authorization)
    return { source: 'admin', ...(token !== undefined && { token }), address: peerOf(socket.remoteAddress) }
  }
}
