import { visible } from '../../../auth/rights/authorize.ts'
import type { Query } from '../../../http/query.ts'
import { type Ask, callerOf } from '../../../http/route.ts'
import { invalidField } from '../../../status.ts'
import { imageUid } from '../../../v2/registry/images.ts'
import { pointsOf } from '../../../v2/registry/tag-history.ts'
import type { Repo, Tag } from '../../../world/registry-model.ts'
import { rootOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { encode } from '../../encode.ts'
import { vulnCountReportList } from '../../messages/vuln-reports.ts'
import type { Operation } from '../../operation.ts'
import type { Finding, Level } from './findings.ts'
import { daysBetween, scanOf, scanTime } from './scans.ts'

const DEFAULT_SPAN_MS = 30 * 24 * 60 * 60 * 1000

/** Level → the member that lists its ids, in the order of the counts. */
const ID_LISTS: Readonly<Record<Level, string>> = {
  CRITICAL: 'critCveIds',
  HIGH: 'highCveIds',
  MEDIUM: 'medCveIds',
  LOW: 'lowCveIds',
  NEGLIGIBLE: 'negligibleCveIds',
  UNKNOWN: 'unknownCveIds',
}

/** Finds a repo by uid, `name`, `organization/name` or `cgr.dev/organization/name` among those whose reports the caller may read. */
const repoNamed = (ask: Ask, world: World, text: string): Repo | undefined => {
  const inReach = visible(world, callerOf(ask), 'vuln_report.list')
  const parts = text.replace(/^cgr\.dev\//, '').split('/')
  const [name, organization] = [parts.at(-1), parts.length > 1 ? parts[0] : undefined]
  const isIn = (uid: string): boolean => organization === undefined || world.store.groups.get(rootOf(uid))?.name === organization
  const rows = world.store.repos.values()
  return rows.find((row) => inReach(row.uid) && (row.uid === text || (row.name === name && isIn(row.uid))))
}

/** The requested days in milliseconds. The default is the last 30 days. */
const spanOf = (query: Query, now: number): readonly [from: number, to: number] => {
  const to = Math.min(query.time('to') ?? now, now)
  return [query.time('from') ?? to - DEFAULT_SPAN_MS, to]
}

const idsAt = (findings: readonly Finding[], level: Level): readonly string[] =>
  findings.filter((finding) => finding.level === level).map(({ id }) => id)

const levels = Object.keys(ID_LISTS) as readonly Level[]

/** The members of a report that derive from its findings. */
const counted = (findings: readonly Finding[]) => {
  const ids = levels.map((level) => ({ level, ids: idsAt(findings, level) }))
  return {
    vulnCounts: ids.flatMap((row) => (row.ids.length === 0 ? [] : [{ severity: row.level, count: row.ids.length }])),
    cveIds: findings.map(({ id }) => id),
    ...Object.fromEntries(ids.map((row) => [ID_LISTS[row.level], row.ids])),
  }
}

/** The report of one day about the tag's target at its end. None before the tag existed. */
const reportOf = (world: World, repo: Repo, tag: Tag, day: number) => {
  const at = scanTime(day, world.clock.now().getTime())
  const digest = pointsOf(tag).findLast(({ updateTime }) => Date.parse(updateTime) <= at)?.digest
  if (digest === undefined) return []
  const { date, findings } = scanOf(world, repo.uid, digest, day)
  const sizeBytes = world.store.images.get(imageUid(repo.uid, digest))?.sizes['amd64']
  return [{ tag: tag.name, date, sizeBytes, ...counted(findings) }]
}

/** The reports of a tag for each day from `from` to `to` on which it existed. */
const reportsOf = (world: World, repo: Repo, tag: Tag, [from, to]: readonly [number, number]) => {
  const [first] = pointsOf(tag)
  const born = first ? Date.parse(first.updateTime) : to
  return daysBetween(Math.max(from, born), to).flatMap((day) => reportOf(world, repo, tag, day))
}

/** Vulnerabilities of a tag by day (semantics §9.3). Scripts also post the parameters as a form. */
export const vulnCountsOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/vuln_reports/counts',
  answer: (ask, world) => {
    const name = ask.query.text('repo') || invalidField('repo', 'is required')
    const span = spanOf(ask.query, world.clock.now().getTime())
    const repo = repoNamed(ask, world, name)
    const [tag] = repo ? world.store.tags.named(repo.uid, ask.query.text('tag') || 'latest') : []
    const reports = repo && tag ? reportsOf(world, repo, tag, span) : []
    return encode({ items: reports.map((report) => ({ repo: name, ...report })) }, vulnCountReportList, world.options.v1Dialect)
  },
}
