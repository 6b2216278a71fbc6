import { describe, expect, it } from 'vitest'
import { capabilities } from '../../mappings/capabilities.ts'
import { mappings } from '../../mappings/index.ts'
import { capabilities as sandboxCapabilities } from '../../src/sandbox/auth/capabilities.ts'
import { createRouter } from '../../src/serve/route.ts'
import { checkMappings } from '../../src/tables/check.ts'
import { isShownIn, itemFields, shownMembers } from '../../src/tables/compile.ts'
import { isReadBack } from '../../src/tables/operations.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)

describe('the tables', () => {
  it('pass every check that the start makes', () => {
    expect(() => checkMappings(mappings)).not.toThrow()
    expect(() => createRouter(operations)).not.toThrow()
  })

  it('name every capability as the sandbox does', () => {
    expect(capabilities.rows.map(([v1, v2]) => [v1, v2])).toEqual(sandboxCapabilities.map(({ v1, v2 }) => [v1, v2]))
  })
})

it('says of each member of an answer that no read shows what it must hold', () => {
  const silent = operations.flatMap(({ id, readBack, answer }) => {
    if (!readBack || !isReadBack(readBack) || readBack.gone) return []
    const shown = new Set(shownMembers(readBack, itemFields(readBack, answer), 'specification').map(({ where }) => where))
    const known = [
      ...Object.keys(readBack.holds ?? {}),
      ...(readBack.listed ? [readBack.listed.answer] : []),
      ...Object.values(readBack.named),
    ]
    const fields = Object.entries(itemFields(readBack, answer)).filter(([, field]) => isShownIn('specification', field))
    return fields.flatMap(([name]) => (shown.has(name) || known.includes(name) ? [] : [`${id} ${name}`]))
  })
  expect(silent).toEqual([])
})
