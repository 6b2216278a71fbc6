import type { Fleet } from '../../fleet/fleet.ts'
import { type ShareModes, UNKNOWN } from '../../fleet/modes/share-modes.ts'
import type { StoreStanding } from '../../routes/admin/ready.ts'

/** Returns what `/readyz` tells of the store. */
export function storeStandingOf(fleet: Pick<Fleet, 'state'>, modes: Pick<ShareModes, 'known'>): () => StoreStanding {
  return () => {
    const { problem, silentMs } = fleet.state()
    const known = modes.known()
    const silent = `no answer for ${(silentMs / 1000).toFixed(0)} s (${problem}); ${MEANS[known]}`
    return { store: problem === undefined ? 'ok' : silent, notReady: known === 'none' ? UNKNOWN : undefined }
  }
}

const MEANS = {
  store: 'the modes of its last answer are in force',
  cache: 'the last known modes of store.cache are in force',
  none: 'no modes are known',
}
