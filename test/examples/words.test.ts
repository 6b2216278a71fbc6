import { expect, it } from 'vitest'
import { runCommand } from '../cli/support.ts'

const TABLES = ['--tables', 'examples/resource-manager/tables.ts']

/** What is true of the API of this package alone. */
const OWN = /uidp|\buid\b|google\.rpc|gRPC|details` is empty|resource-management/

it.each([
  ['operations'],
  ['openapi'],
  ['explain', '--guide', '*'],
  ['explain', 'GET /v1/projects?filter=lifecycleState:ACTIVE'],
  ['explain', 'DELETE /v1/projects/tokyo-rain-1'],
  ['explain', 'POST /v1/projects/tokyo-rain-1:getOrgPolicy'],
])('says of another API what is true of it: %j', async (...argv) => {
  const { code, out, err } = await runCommand([...argv, ...TABLES])
  expect([code, err]).toEqual([0, ''])
  expect(out.length).toBeGreaterThan(0)
  expect(out.split('\n').filter((line) => OWN.test(line))).toEqual([])
})

it('says of a converted member that v2 writes it in another form', async () => {
  const { out } = await runCommand(['explain', '--guide', 'resourcemanager.projects.get', ...TABLES])
  expect(out).toContain('| `parent` | `parent` | converted: v2 writes the value in another form |')
  expect(out).toContain('\nThe same in v2: `projectId`, `createTime`, `labels`.')
})

it('shows the calls of a plan up to what imagined answers cannot say', async () => {
  const { out } = await runCommand(['explain', 'DELETE /v1/projects/tokyo-rain-1', ...TABLES])
  expect(out.split('\n').at(-1)).toBe('# what v2 answers decides what comes next')
})

it('describes refusals without a form that the tables do not use', async () => {
  const { components } = JSON.parse((await runCommand(['openapi', ...TABLES])).out)
  const { description, content } = components.responses.NotFound
  expect([description, content['application/json'].schema]).toEqual([
    'Refused with NOT_FOUND.',
    { type: 'object', description: 'A refusal, as the API writes it.', additionalProperties: true },
  ])
})
