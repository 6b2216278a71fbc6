import type { Rows } from '../dataset.ts'
import { fixtureUid } from '../fixture.ts'
import { exampleCom } from '../groups.ts'

/** One subscription to a port of this machine, with or without a listener. */
export const demoEvents: Rows = {
  subscriptions: [{ uid: fixtureUid(exampleCom.uid, 'subscription local'), sink: 'https://localhost:9443/events' }],
}
