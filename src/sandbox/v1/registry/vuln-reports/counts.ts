import type { Query } from '../../../http/query.ts'
import { type Ask, callerOf } from '../../../http/route.ts'
import type { Finding, Level } from '../../../scans/findings.ts'
import { repoNamed } from '../../../scans/repo-named.ts'
import { daysBetween, scanOf, scanTime } from '../../../scans/scans.ts'
import { invalidField } from '../../../status.ts'
import { imageUid } from '../../../v2/registry/images.ts'
import { pointsOf } from '../../../v2/registry/tag-history.ts'
import type { Repo, Tag } from '../../../world/registry-model.ts'
import type { World } from '../../../world/world.ts'
import { encode } from '../../encode.ts'
import { vulnCountReportList } from '../../messages/vuln-reports.ts'
import type { Operation } from '../../operation.ts'

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

/** A tag, as a request names it. */
type Reference = { readonly repo?: string; readonly tag?: string }

/** The tags of a request: one in the query, or several, which only gRPC can carry. */
const referencesOf = ({ query, body }: Ask): readonly Reference[] => {
  const { references = [] } = body as { readonly references?: readonly Reference[] }
  const [repo, tag] = [query.text('repo'), query.text('tag')]
  return repo === '' && references.length > 0 ? references : [{ repo, tag }, ...references]
}

/** Vulnerabilities of tags by day (semantics §9.3). Scripts also post the parameters as a form. */
export const vulnCountsOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/vuln_reports/counts',
  answer: (ask, world) => {
    const span = spanOf(ask.query, world.clock.now().getTime())
    const items = referencesOf(ask).flatMap(({ repo: name = '', tag: tagName = '' }) => {
      const repo = repoNamed(world, callerOf(ask), 'vuln_report.list', name || invalidField('repo', 'is required'))
      const [tag] = repo ? world.store.tags.named(repo.uid, tagName || 'latest') : []
      return repo && tag ? reportsOf(world, repo, tag, span).map((report) => ({ repo: name, ...report })) : []
    })
    return encode({ items }, vulnCountReportList, world.options.v1Dialect)
  },
}
