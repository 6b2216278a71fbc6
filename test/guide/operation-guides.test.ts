import { describe, expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { isShownIn, nameIn } from '../../src/tables/compile.ts'
import type { Fields } from '../../src/tables/fields.ts'
import { covers, type Operation } from '../../src/tables/operation.ts'
import { paramsOf } from '../../src/tables/query.ts'
import { DIALECTS, type Dialect } from '../../src/tables/uid.ts'
import { guideBlocks, htmlPage, markdownOf } from '../../src/tools/guide-pages.ts'
import { type Guide, guideSchema } from '../../src/tools/guide-request.ts'
import { guideOf, operations } from './guides.ts'

/** Texts that only a mistake brings into a guide. */
const MISTAKES = /undefined|\[object|NaN|CROSSWALK-| {2},|\(\)/

/** Dotted names of all members, `[]` and `*` left out. */
function namesIn(fields: Fields, dialect: Dialect, isAnswer: boolean, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (isAnswer && !isShownIn(dialect, field)) return []
    const own = prefix + nameIn(dialect, name, field)
    const inner = field.type.kind === 'list' || field.type.kind === 'map' ? field.type.of : field.type
    return [own, ...(inner.kind === 'object' ? namesIn(inner.fields, dialect, isAnswer, `${own}.`) : [])]
  })
}

const plain = (rows: readonly { readonly v1: string }[]) => rows.map(({ v1 }) => v1.replaceAll('[]', '').replaceAll('.*', '')).sort()

describe.each(DIALECTS)('the guide of every operation in the dialect %s', (dialect) => {
  const guides: readonly Guide[] = operations.map((operation) => guideOf(operation, dialect))

  it('follows its schema', () => {
    for (const guide of guides) expect(guideSchema.parse(guide)).toEqual(guide)
  })

  it('names the gRPC method of v1, and one of v2 for every call', () => {
    const sections = guides.flatMap((guide) => guide.sections)
    expect(sections.filter(({ grpc, requests: [first] }) => !grpc || (grpc.v2.length === 0 && first?.calls.length !== 0))).toEqual([])
    const methods = (id: string) => sections.find(({ operation }) => operation === id)?.grpc?.v2.map((name) => name.split('.').at(-1))
    expect(methods('iam.groups.list')).toEqual(['GroupsService/ListGroups'])
    expect(methods('registry.repos.list')).toEqual(['ReposService/ListRepos', 'ReposService/GetRepoReadme'])
  })

  it('accounts for every parameter and every member of the tables once', () => {
    for (const [at, { params, ownParams, request, answer, envelope, rows, begin }] of operations.entries()) {
      const [section] = guides[at]?.sections ?? []
      if (!begin || !section) continue
      expect(section.parameters.map(({ v1 }) => v1)).toEqual([...Object.keys(params), ...ownParams])
      const row = namesIn(answer?.shown ?? {}, dialect, true, rows ? 'items.' : '')
      const beside = namesIn(envelope?.shown ?? {}, dialect, true)
      expect(plain(section.answer)).toEqual([...(rows ? ['items'] : []), ...beside, ...row].sort())
      expect(plain(section.body)).toEqual([...namesIn(request?.fields ?? {}, dialect, false)].sort())
      for (const { fate, v2, note } of [...section.parameters, ...section.answer, ...section.body]) {
        expect([fate, v2 ?? note]).not.toContain(undefined)
      }
    }
  })

  it('has the v2 calls of what v2 serves, and a reason for the rest', () => {
    for (const [at, { id, begin }] of operations.entries()) {
      const { sections, blockers, checklist } = guides[at] as Guide
      expect([id, sections.length, blockers.length]).toEqual([id, begin ? 1 : 0, begin ? 0 : 1])
      for (const { requests } of sections)
        for (const { calls, refusal } of requests) expect([id, calls.length > 0, refusal]).toEqual([id, true, undefined])
      for (const { because } of blockers) expect(because).not.toBe('')
      expect(checklist.length).toBeGreaterThan(0)
    }
  })

  it('is written in all formats, without a gap', () => {
    for (const guide of guides) {
      const blocks = guideBlocks(guide)
      const texts = [markdownOf(blocks), htmlPage(guide.title, blocks), JSON.stringify(guide)]
      for (const text of texts) expect(MISTAKES.exec(text)?.[0]).toBeUndefined()
      for (const [nth, block] of blocks.entries()) {
        const next = blocks[nth + 1]
        if (block.kind === 'heading')
          expect([guide.title, block.text, next && (next.kind !== 'heading' || next.level > block.level)]).toEqual([
            guide.title,
            block.text,
            true,
          ])
        if (block.kind === 'table') expect(block.rows.length).toBeGreaterThan(0)
        if (block.kind === 'list') expect(block.items.length).toBeGreaterThan(0)
      }
    }
  })
})

describe('the members of a guide', () => {
  const guideFor = (id: string) => guideOf(operations.find((one) => one.id === id) as Operation, 'specification')
  const members = (id: string) => guideFor(id).sections[0]?.answer.map(({ v1, v2, fate }) => [v1, v2, fate])

  it('have their names in the object that another call has', () => {
    expect(members('registry.repo_tags_summary.get')).toContainEqual(['latest_tag.id', '….uid', 'renamed'])
    expect(members('iam.identity_providers.list')).toContainEqual(['items[].scim.token_expire_time', '….tokenExpireTime', 'renamed'])
  })

  it('stand for all that is below them if v2 has none of it', () => {
    expect(members('registry.eol_tags.list')).toContainEqual(['items[].main_package_version.lts', undefined, 'dropped'])
    const markdown = markdownOf(guideBlocks(guideFor('registry.eol_tags.list')))
    expect(markdown).toContain('| `items[].main_package_version` | – | dropped: ')
    expect(markdown).not.toContain('main_package_version.lts')
  })
})

describe('the requests that can meet a difference', () => {
  it('are told by parameters and members that the operations have', () => {
    for (const { code, operations: patterns, met } of differences) {
      if (!met) continue
      const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
      const names = covered.flatMap((operation) => [...paramsOf(operation), ...Object.keys(operation.request?.fields ?? {})])
      for (const name of [met.given, met.sent, met.missing].flatMap((list) => list ?? []))
        expect([code, names.includes(name)]).toEqual([code, true])
    }
  })
})
