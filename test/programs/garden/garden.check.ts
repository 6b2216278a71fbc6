import { afterAll, describe, expect, it } from 'vitest'
import { buildCli } from '../../app/cli/built.ts'
import { seedOr } from '../faults/fuzz/hunt.ts'
import { isAmong } from './judge.ts'
import { describeWrong, type Findings, listOf, nameOf, summaryOf, type Way, type Wrong, walk } from './lane.ts'
import { rowsFrom } from './rows.ts'
import { isInstalled, KINDS, type Kind } from './servers.ts'

const seed = seedOr(1)
const rows = rowsFrom(seed)
const kinds = KINDS.filter(isInstalled)

const REUSED = 'a connection was used after a broken answer'

describe('the garden', () => {
  const table: string[] = []
  const cli = buildCli()

  afterAll(() => {
    console.log([`${rows.length} odd requests on each way, CROSSWALK_SEED=${seed}`, ...table].join('\n'))
  })

  const found = (way: Way) => walk(cli, rows, way)

  /** Returns the findings in a way that Crosswalk causes. A server causes a finding if it shows it in the same row without Crosswalk. */
  const ours = (way: Way, findings: Findings, isOwn: (wrong: Wrong) => boolean = () => false): readonly string[] => {
    const all = listOf(findings, rows)
    const worse = all.filter((wrong) => !isOwn(wrong))
    table.push(`${nameOf(way)}: ${worse.length} wrong because of Crosswalk, ${all.length - worse.length} because of the server`)
    return worse.map(describeWrong)
  }

  it.concurrent.each<[Way]>([[['crosswalk']], [['crosswalk without v1']]])('%s alone', async (way) => {
    expect(ours(way, await found(way))).toEqual([])
  })

  it.concurrent.each(kinds.map((kind): [string, Kind] => [kind.name, kind]))('%s', async (_, kind) => {
    const before: Way = ['crosswalk', kind]
    const behind: Way = [kind, 'crosswalk']
    const [without, foundBefore, foundBehind] = await Promise.all([found([kind]), found(before), found(behind)])
    const wrong = listOf(without, rows)
    const own = (kind.own ?? []).map(({ finding, because }) => `  with Crosswalk: ${finding}, because ${because}`)
    table.push(`${nameOf([kind])}: ${wrong.length} wrong`, ...summaryOf(wrong), ...own)
    const isOwn = ({ row, finding }: Wrong) =>
      isAmong(without.get(row.nr), finding) || kind.own?.some((fault) => fault.finding === finding && fault.rows.test(row.name)) === true
    // The connections to the journal belong to the last server of the way. One that uses them after a broken answer may give the rest of that
    // to another client: timing decides.
    const reuses = ({ row }: Wrong) => without.get(row.nr)?.has(REUSED) === true
    const isOfLast = (wrong: Wrong) =>
      wrong.finding === REUSED || (wrong.finding === 'another client got a wrong answer' && reuses(wrong)) || isOwn(wrong)
    expect({ before: ours(before, foundBefore, isOfLast), behind: ours(behind, foundBehind, isOwn) }).toEqual({ before: [], behind: [] })
  })
})
