import type { Case } from '../case.ts'
import { ok, refused } from '../expect.ts'
import * as make from '../fixtures.ts'
import * as shape from '../shapes/shapes.ts'

const SUBSCRIPTIONS = '/events/v1/subscriptions'

/** facts §8 */
export const subscriptions: readonly Case[] = [
  {
    name: 'subscriptions: made, listed and deleted; neither has times',
    operations: ['events.subscriptions.create', 'events.subscriptions.list', 'events.subscriptions.delete'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
      const sink = 'https://localhost:9/hook?a=b'
      const path = `${SUBSCRIPTIONS}/${parent}`
      const { id } = ok(api, await api.post(path, { sink, id: 'mine' }), shape.subscription(parent, { sink }))
      ok(api, await api.get(SUBSCRIPTIONS, { id }), { items: [shape.subscription(parent, { id, sink })] })
      ok(api, await api.get(SUBSCRIPTIONS, { 'uidp.children_of': parent }), { items: [shape.subscription(parent, { id, sink })] })
      ok(api, await api.delete(`${SUBSCRIPTIONS}/${id.replaceAll('/', '%2F')}`), {})
      ok(api, await api.delete(`${SUBSCRIPTIONS}/${id}`), {})
      ok(api, await api.get(SUBSCRIPTIONS, { id }), { items: [] })
    },
  },
  {
    name: 'subscriptions: refusals',
    operations: ['events.subscriptions.create', 'events.subscriptions.delete'],
    roles: ['viewer', 'outsider', 'nobody'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
      const path = `${SUBSCRIPTIONS}/${parent}`
      const body = { sink: 'https://localhost:9/hook' }
      refused(await api.post(path, {}), 3, /^Invalid argument: sink: /)
      refused(await api.post(path, { sink: 'not an address' }), 3, /^Invalid argument: sink: /)
      refused(await api.inAnyWords.post(path, { sink: 7 }), 3)
      const made = await make.subscription(api, parent)
      for (const role of ['viewer', 'outsider'] as const) {
        refused(await api.as(role).post(path, body), 7)
        refused(await api.as(role).delete(`${SUBSCRIPTIONS}/${made.id}`), 7)
      }
      refused(await api.as('nobody').post(path, body), 16)
      refused(await api.as('nobody').delete(`${SUBSCRIPTIONS}/${made.id}`), 16)
    },
  },
]
