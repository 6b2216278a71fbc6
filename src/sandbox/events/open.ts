import { ok, type Route } from '../http/route.ts'
import { createRandom } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { type Courier, createCourier } from './courier.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createPost } from './post.ts'

/** `GET /-/deliveries`: the outcome of the last thousand deliveries, one entry for each event and subscription. */
const deliveriesRoute = (ledger: Ledger): Route => ({
  method: 'GET',
  template: '/-/deliveries',
  auth: 'none',
  handle: () => ok(ledger.entries()),
})

/** The events of one sandbox: publishing, the endpoint that shows the deliveries, and closing. */
export type Events = Pick<Courier, 'publish' | 'close'> & { readonly routes: readonly Route[] }

/** Delivers over HTTP. `seed` determines the ids of events; `anySink` lets events leave this machine. */
export const openEvents = (world: World, seed: number, anySink: boolean): Events => {
  const ledger = createLedger()
  const { post, close } = createPost()
  const courier = createCourier({ world, post, ledger, random: createRandom(seed), anySink })
  return {
    publish: courier.publish,
    routes: [deliveriesRoute(ledger)],
    close: async () => {
      await courier.close()
      await close()
    },
  }
}
