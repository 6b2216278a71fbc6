import type { Fleet } from '../../fleet/fleet.ts'
import { type ShareModes, unreadText } from '../../fleet/modes.ts'
import type { StoreStanding } from '../../serve/upstream/health.ts'

/** Returns what `/readyz` tells of the store. */
export function storeStandingOf(fleet: Pick<Fleet, 'state'>, modes: Pick<ShareModes, 'known' | 'unknown' | 'unread'>): () => StoreStanding {
  return () => {
    const { problem, foreignKey, silentMs } = fleet.state()
    const unread = modes.unread()
    const known = modes.known()
    const means = MEANS[unread && known !== 'none' ? 'unread' : known]
    const answers = unread ? `${unreadText(unread)}; ${means}` : 'ok'
    const what = foreignKey === undefined ? 'no answer' : 'nothing taken'
    const silent = `${what} for ${(silentMs / 1000).toFixed(0)} s (${problem}); ${means}`
    return { store: problem === undefined ? answers : silent, notReady: modes.unknown() }
  }
}

const MEANS = {
  store: 'the modes of its last answer are in force',
  cache: 'the last known modes of store.cache are in force',
  unread: 'the last modes that this replica could read are in force',
  none: 'no modes are known',
}
