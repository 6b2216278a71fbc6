import { expect, it } from 'vitest'
import { camelCase, snakeCase } from '../../../src/tables/language/names.ts'

it.each([
  ['group_id', 'groupId'],
  ['uidp.children_of', 'uidp.childrenOf'],
  ['sha_256', 'sha256'],
  ['updatesOptIn', 'updatesOptIn'],
  ['name', 'name'],
])('%s is published as %s', (snake, camel) => {
  expect(camelCase(snake)).toBe(camel)
})

it('a mask path goes back to the names of the protos', () => {
  expect(snakeCase('oidc.clientSecret')).toBe('oidc.client_secret')
})
