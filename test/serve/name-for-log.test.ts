import { expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createNameForLog } from '../../src/serve/core.ts'

const nameForLog = createNameForLog(mappings.flatMap(({ operations }) => operations))

it.each(['limit', 'page_size', 'pageSize', 'exclude_dates', 'excludeDates', 'uidp.childrenOf', 'order_by'])(
  'returns the known name %s',
  (name) => {
    expect(nameForLog(name)).toBe(name)
  },
)

it.each(['AKIAIOSFODNN7EXAMPLE', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'hunter2', 'token', 'colour', '', 'constructor', '__proto__'])(
  'hides the unknown name %j',
  (name) => {
    expect(nameForLog(name)).toBe('(no name)')
  },
)
