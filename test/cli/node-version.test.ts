import { expect, it } from 'vitest'
import { lacksFixes } from '../../src/app/cli/command.ts'

const COLLIDING = 'one request of ten thousand numbers as texts stops everybody for a tenth of a second'

it.each([
  ['v20.19.0', 'Node 20.19.0 has had no security fixes since April 2026; Node 24 is recommended'],
  ['v20.20.2', 'Node 20.20.2 has had no security fixes since April 2026; Node 24 is recommended'],
  ['v22.22.1', `on Node 22.22.1 ${COLLIDING}; 22.22.2 has the fix`],
  ['v24.4.0', `on Node 24.4.0 ${COLLIDING}; 24.14.1 has the fix`],
  ['v22.23.3', 'one packet over HTTP/2 ends every server on Node 22.23.3; 22.23.2 and Node 24 do not have that fault'],
  ['v22.22.2', undefined],
  ['v22.23.2', undefined],
  ['v24.14.1', undefined],
  ['v24.21.0', undefined],
  ['v26.0.0', undefined],
  ['v200.0.0', undefined],
])('says about Node %s: %j', (version, sentence) => expect(lacksFixes(version)).toBe(sentence))
