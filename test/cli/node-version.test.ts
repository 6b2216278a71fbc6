import { expect, it } from 'vitest'
import { outOfSupport } from '../../src/cli/node-version.ts'

it.each([
  ['v20.19.0', 'Node 20.19.0 has had no security fixes since April 2026; Node 24 is recommended'],
  ['v20.20.2', 'Node 20.20.2 has had no security fixes since April 2026; Node 24 is recommended'],
  ['v22.21.0', undefined],
  ['v24.21.0', undefined],
  ['v200.0.0', undefined],
])('of Node %s it is said: %j', (version, sentence) => expect(outOfSupport(version)).toBe(sentence))
