import type { Config } from '../../config/settings.ts'
import type { JoinFleet } from '../join-fleet.ts'

/**
 * Opens the store of the settings: `createServer(config, mappings, { join: await openFleet(config) })`. Returns undefined without
 * `store.url`; then nothing of stores and fleets is loaded. Rejects with a sentence if the store cannot be used.
 */
export async function openFleet(config: Pick<Config, 'store.url' | 'store.name'>): Promise<JoinFleet | undefined> {
  const url = config['store.url']
  if (url === undefined) return undefined
  const [{ openStore }, { joinFleet }] = await Promise.all([import('../../fleet/store/open.ts'), import('../join-fleet.ts')])
  return joinFleet(await openStore(url, config['store.name']))
}
