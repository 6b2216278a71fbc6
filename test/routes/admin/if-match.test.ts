import { expect, it } from 'vitest'
import { ifMatch } from '../../../src/admin/fleet-routes.ts'

it.each([
  [undefined, 'met'],
  ['*', 'met'],
  [' * ', 'met'],
  ['"a-2"', 'met'],
  ['"a-1", "a-2"', 'met'],
  [',"a-2",', 'met'],
  ['"x,y", "a-2"', 'met'],
  ['"a-1"', 'failed'],
  ['"x,"a-2"', 'malformed'],
  ['W/"a-2"', 'failed'],
  ['"A-2"', 'failed'],
  ['""', 'failed'],
  ['a-2', 'malformed'],
  ['', 'malformed'],
  [',', 'malformed'],
  ['"a-2" "a-2', 'malformed'],
  ['*, "a-2"', 'malformed'],
] as const)('says of If-Match %j: %s', (header, said) => expect(ifMatch(header, '"a-2"')).toBe(said))
