import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type CrosswalkPluginOptions, crosswalk } from '../../src/index.ts'

/** A server of somebody else, with the plugin in it. */
export interface Host {
  readonly app: FastifyInstance
  readonly url: string
}

export interface HostOptions {
  readonly server?: FastifyServerOptions
  readonly prefix?: string
  /** Adds what the owner has of their own, before the plugin. */
  readonly own?: (app: FastifyInstance) => void
}

/** Starts such a server on a free port. */
export async function startHost(
  options: CrosswalkPluginOptions,
  { server = {}, prefix = '', own = () => {} }: HostOptions = {},
): Promise<Host> {
  const app = Fastify({ forceCloseConnections: true, ...server })
  own(app)
  await app.register(crosswalk, { ...options, prefix })
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}
