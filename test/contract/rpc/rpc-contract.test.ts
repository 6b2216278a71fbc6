import { beforeAll, describe, expect, it } from 'vitest'
import { sampleSeed, sizeOr } from '../../programs/faults/fuzz/hunt.ts'
import { isFull } from '../../sample.ts'
import { seeded } from '../../stage/clocks.ts'
import { cases } from '../cases/index.ts'
import { type Sides, startSides } from '../stage.ts'
import type { Case } from '../target.ts'
import { type Carried, carried, compare, connectClient, grpcClient } from './call.ts'
import { EXCEPTIONS, INEXPRESSIBLE } from './protojson.ts'

/** The number of cases that `npm test` plays over each protocol; CROSSWALK_CASES plays more, and CROSSWALK_SAMPLE=full all of them. */
const SAMPLE = isFull ? Number.POSITIVE_INFINITY : 4

/** A case creates up to a thousand rows while others run. */
const PATIENCE = 60_000

const published = cases.filter(({ dialect = 'published' }) => dialect === 'published')
const chosen = sampleOf(published, Math.min(sizeOr(SAMPLE), published.length))
const isWhole = chosen.length === published.length

let sides: Sides

beforeAll(async () => {
  sides = await startSides('published')
})

/** Draws cases by CROSSWALK_SEED and keeps their order. */
function sampleOf(all: readonly Case[], size: number): readonly Case[] {
  const random = seeded(sampleSeed)
  const drawn = all.map((one) => ({ one, at: random() })).sort((a, b) => a.at - b.at)
  const kept = new Set(drawn.slice(0, size).map(({ one }) => one))
  return all.filter((one) => kept.has(one))
}

describe.each([
  ['gRPC', grpcClient],
  ['Connect', connectClient],
] as const)('the v1 contract over %s', { timeout: PATIENCE }, (name, clientOf) => {
  let genuine: Carried
  let proxied: Carried

  beforeAll(() => {
    const own = { run: name.toLowerCase() }
    // A genuine v1 speaks gRPC and no Connect.
    genuine = carried({ ...sides.genuine, ...own }, grpcClient(sides.genuine.url))
    proxied = carried({ ...sides.proxied, ...own }, clientOf(sides.proxied.url))
  })

  const check = (one: Case) => compare(one, genuine, proxied)

  it.each(chosen.filter(({ reads }) => reads))('$name', check)
  it.concurrent.each(chosen.filter(({ reads }) => !reads))('$name', check)

  // Only all cases together show every reason.
  it.runIf(isWhole)('sends over REST what no call can express, for each of the reasons', () => {
    expect([...proxied.besides.keys()].sort()).toEqual(Object.keys(INEXPRESSIBLE).sort())
    expect(proxied.calls()).toBeGreaterThan(2 * [...proxied.besides.values()].reduce((sum, count) => sum + count))
  })
})

it('names only cases that there are as exceptions', () => {
  expect(Object.keys(EXCEPTIONS).filter((name) => !published.some((one) => one.name === name))).toEqual([])
})
