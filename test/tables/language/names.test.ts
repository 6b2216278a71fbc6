import { expect, it } from 'vitest'
import { camelCase, snakeCase } from '../../../src/tables/uid.ts'

it.each([
  ['group_id', 'groupId'],
  ['uidp.children_of', 'uidp.childrenOf'],
  ['sha_256', 'sha256'],
  ['updatesOptIn', 'updatesOptIn'],
  ['name', 'name'],
])('publishes %s as %s', (snake, camel) => {
  expect(camelCase(snake)).toBe(camel)
})

it('turns a mask path back into the proto names', () => {
  expect(snakeCase('oidc.clientSecret')).toBe('oidc.client_secret')
})
