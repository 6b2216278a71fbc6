import { describe, expect, it } from 'vitest'
import { tables as asDrafted } from '../../examples/resource-manager/drafted.ts'
import { tables as byHand } from '../../examples/resource-manager/tables.ts'
import { checkMappings } from '../../src/tables/check.ts'
import type { Fields } from '../../src/tables/fields.ts'
import { operationsOf, type Tables } from '../../src/tables/tables.ts'
import { readDocument } from '../../src/tools/contract.ts'
import { draftTables } from '../../src/tools/draft.ts'

const EXAMPLE = 'examples/resource-manager'

async function drafted() {
  const [v1, v3] = await Promise.all(['v1', 'v3'].map((version) => readDocument(`${EXAMPLE}/openapi-${version}.json`)))
  if (!v1 || !v3) throw new Error('a document is missing')
  return draftTables(v1.contract, v3.contract, 'resourcemanager')
}

/** `GET /v1/projects/{projectId} answer.name` → the place in v2. */
function placesIn(tables: Tables): ReadonlyMap<string, string> {
  const below = (fields: Fields, at: string): [string, string][] =>
    Object.entries(fields).flatMap(([name, { type, source }]): [string, string][] => {
      const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
      const own: [string, string][] = typeof source === 'string' && source !== '' ? [[`${at}.${name}`, source]] : []
      return [...own, ...(inner.kind === 'object' ? below(inner.fields, `${at}.${name}`) : [])]
    })
  return new Map(
    operationsOf(tables).flatMap(({ method, template, calls, request, answer }): [string, string][] => {
      const route = `${method} ${template}`
      return [
        ...(calls.length === 1 ? [[route, String(calls[0])] as [string, string]] : []),
        ...below(request?.fields ?? {}, `${route} request`),
        ...below(answer?.fields ?? {}, `${route} answer`),
      ]
    }),
  )
}

describe('a draft of the example', () => {
  it('is the text that the example shows', async () => {
    await expect((await drafted()).text).toMatchFileSnapshot(`../../${EXAMPLE}/drafted.ts`)
  })

  it('passes the checks of the start as it stands', () => {
    expect(() => checkMappings(asDrafted.mappings)).not.toThrow()
  })

  it('guesses nothing that the table written by hand says otherwise', () => {
    const [guessed, right] = [placesIn(asDrafted), placesIn(byHand)]
    expect([...guessed].filter(([place, v2]) => right.has(place) && right.get(place) !== v2)).toEqual([])
    const found = [...right.keys()].filter((place) => guessed.has(place))
    process.stderr.write(`draft: ${found.length} of ${right.size} rows written by hand, ${guessed.size} guesses, none wrong\n`)
    expect(found.length).toBeGreaterThan(right.size / 4)
  })

  it('lists what a person must decide', async () => {
    const { decisions } = await drafted()
    expect(decisions).toContain("Project.name: v2's name may mean something else: only v2 says that it is read-only")
    expect(decisions).toContain("Project.parent: v2's parent is of the kind text, and v1's of the kind object")
    expect(decisions).toContain(
      'PUT /v1/projects/{projectId}: v2 updates by PATCH /v3/projects/{projectsId}: say which members it replaces, as replace() or an operation with a plan',
    )
    expect(decisions).toContain('GET /v1/projects: GET /v3/projects has its path, but needs parent')
  })
})
