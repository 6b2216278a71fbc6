import { createReadStream } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import type { Repo, Tag } from '../world/model.ts'
import { type Dataset, exampleCom, fileDataset } from './data.ts'
import { demoDataset, emptyDataset } from './demo.ts'
import { dated, dayAfter, fixtureDigest, fixtureUid } from './plans.ts'

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
const largeDataset = (now: number, count = 10_000): Dataset => {
  const demo = demoDataset(now)
  return { ...demo, rows: [...demo.rows, { repos: [repo], tags: Array.from({ length: count }, (_, index) => tag(index)) }] }
}

/** The initial data of a sandbox: a built-in set, a JSON file of v2-shaped resources, or the content of such a file. */
export type DataOption = 'demo' | 'empty' | 'large' | { readonly file: string } | Readonly<Record<string, readonly unknown[]>>

/** Bytes of a file of data: some 200,000 resources. */
const MOST_BYTES = 64 * 2 ** 20

const readJson = async (file: string): Promise<unknown> => {
  // A device such as /dev/zero never ends.
  const text = await textOf(createReadStream(file, { end: MOST_BYTES })).catch((error: NodeJS.ErrnoException) => {
    error.path ??= file
    throw error
  })
  if (text.length > MOST_BYTES) throw new Error(`data: ${file} has more than ${MOST_BYTES} bytes`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`data: ${file} is not JSON: ${(error as Error).message}`)
  }
}

/** The dataset of an option. `now` is the sandbox's start in milliseconds; `tags` is the number of tags in `large`. */
export const openData = async (data: DataOption, now: number, tags?: number): Promise<Dataset> => {
  if (data === 'demo') return demoDataset(now)
  if (data === 'empty') return emptyDataset()
  if (data === 'large') return largeDataset(now, tags)
  try {
    return fileDataset('file' in data && typeof data.file === 'string' ? await readJson(data.file) : data, now)
  } catch (error) {
    // The command line ends with another exit code if what it was given is wrong.
    throw Object.assign(error as Error, { isMisuse: true })
  }
}
