import type { Repo, Tag } from '../world/registry-model.ts'
import type { Dataset } from './dataset.ts'
import { demoDataset } from './demo/demo.ts'
import { dated, dayAfter, fixtureDigest, fixtureUid } from './fixture.ts'
import { exampleCom } from './groups.ts'

const CREATED = '2026-01-02'

const repo: Repo = {
  uid: fixtureUid(exampleCom.uid, 'repo large'),
  name: 'large',
  description: 'One repo with very many tags',
  catalogTier: 'CATALOG_TIER_UNSPECIFIED',
  bundles: [],
  aliases: [],
  activeTags: [],
  ...dated(dayAfter(CREATED, 0)),
}

/** Plain version tags, which no filter hides. Every tenth is deprecated; each time is shared by ten. */
const tag = (index: number): Tag => {
  const name = `${Math.floor(index / 10_000)}.${Math.floor(index / 100) % 100}.${index % 100}`
  return {
    uid: fixtureUid(repo.uid, `tag ${name}`),
    name,
    digest: fixtureDigest(`large ${name}`),
    updateTime: dayAfter(CREATED, Math.floor(index / 10) / 24),
    deprecated: index % 10 === 0,
    bundles: [],
  }
}

/** The demo with an additional repo named `large` that has `count` tags. */
export const largeDataset = (now: number, count = 10_000): Dataset => {
  const demo = demoDataset(now)
  return { ...demo, rows: [...demo.rows, { repos: [repo], tags: Array.from({ length: count }, (_, index) => tag(index)) }] }
}
