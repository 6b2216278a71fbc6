import { expect, it } from 'vitest'
import { serverUrl } from '../../src/tools/openapi.ts'

it.each([
  ['http://127.0.0.1:8080', 'admin.example', 'http://127.0.0.1:8080'],
  ['https://0.0.0.0:8443', 'admin.example', 'https://admin.example:8443'],
  ['http://[::]:8080', '[::1]', 'http://[::1]:8080'],
  ['http://[::1]:8080', 'admin.example', 'http://[::1]:8080'],
])('makes of %s, called as %s, the address %s', (listening, called, url) => {
  expect(serverUrl(listening, called)).toBe(url)
})
