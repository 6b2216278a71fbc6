import { type Dataset, fillStore } from '../data/dataset.ts'
import type { Clock } from './clock.ts'
import { createRandom } from './random.ts'
import { createStore } from './store.ts'
import type { World, WorldOptions } from './world.ts'

/** Creates a world that holds `dataset`. `seed` determines every later uid, code and token. */
export const createWorld = (dataset: Dataset, clock: Clock, seed: number, options: WorldOptions, baseUrl: () => string): World => {
  const store = createStore()
  fillStore(store, dataset.rows)
  const random = createRandom(seed)
  return { store, clock, random, options, tokens: dataset.tokens, baseUrl, pageKey: random.hex(32) }
}
