import { createCrosswalk, crosswalk } from 'crosswalk'
import Fastify, { type FastifyInstance } from 'fastify'

/** Somebody's own Fastify server. It has routes, a hook and metrics of its own, and serves v1 below `/old` from the v2 service at `v2`. */
export async function startFastifyServer(v2: string): Promise<FastifyInstance> {
  const app = Fastify()
  app.addHook('onRequest', async (_, reply) => void reply.header('x-served-by', 'mine'))
  app.get('/orders', async () => [{ id: 1 }])
  const v1 = await createCrosswalk({ upstream: { v2 } }, { log: app.log })
  app.get('/metrics', async () => v1.metrics())
  await app.register(crosswalk, { crosswalk: v1, prefix: '/old' })
  await app.listen({ port: 0 })
  return app
}
