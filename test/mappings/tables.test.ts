import { describe, expect, it } from 'vitest'
import { capabilities } from '../../mappings/capabilities.ts'
import { mappings } from '../../mappings/index.ts'
import { capabilities as sandboxCapabilities } from '../../src/sandbox/auth/capabilities.ts'
import { createRouter } from '../../src/serve/route.ts'
import { checkMappings } from '../../src/tables/check.ts'

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
