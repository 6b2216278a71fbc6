import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { Notifier } from '../../notify/notifier.ts'

/** Adds the request that sends a test event. The answer comes before the event is sent: `/evidence` then says what became of it. */
export function addNotify(app: FastifyInstance, notifier: Pick<Notifier, 'ping'> | undefined): void {
  app.post('/notify/test', async (_, reply) => {
    if (!notifier) throw new ApiError('FAILED_PRECONDITION', 'no receiver is set: give notify.url (CROSSWALK_NOTIFY_URL) and start again')
    return reply.status(202).send({ id: notifier.ping() })
  })
}
