import { expect, it } from 'vitest'
import { idleRules } from '../../../src/modes/choose/idle-rules.ts'
import { modesSchema } from '../../../src/modes/choose/rules.ts'
import { startProxy } from '../../stage/proxy.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

const OPERATIONS = ['iam.groups.list', 'iam.groups.create', 'iam.roles.list', 'registry.repos.list']

const idle = (...rules: object[]) => {
  const said = idleRules(modesSchema.parse({ default: 'v2', rules: rules.map((rule) => ({ mode: 'v1', ...rule })) }), OPERATIONS)
  return said.map((text) => text.replace(/^modes\.rules\.(\d+) \(.*\) (fits no operation|is never reached).*\.$/, '$1 $2'))
}

it('accepts rules that have an effect', () => {
  expect(idle({ operations: 'iam.groups.list' }, { operations: 'iam.*' }, { operations: '*' })).toEqual([])
  expect(idle({ operations: '*', clients: 'a*' }, { operations: '*', clients: 'b*' }, { operations: '*', clients: 'ab' })).toEqual([])
  expect(idle()).toEqual([])
})

it('reports a rule that fits no operation', () => {
  expect(idle({ operations: 'iam.groupz.list' }, { operations: ['iam.groupz.*', 'iam.groups.list'] })).toEqual(['0 fits no operation'])
})

it('reports a rule whose requests earlier rules all take', () => {
  expect(idle({}, { operations: 'iam.groups.list' })).toEqual(['1 is never reached'])
  expect(idle({ operations: 'iam.roles.list' }, { operations: 'iam.groups.*' }, { operations: 'iam.*' })).toEqual(['2 is never reached'])
  expect(idle({ clients: ['a', 'b'] }, { operations: 'iam.*', clients: 'b' })).toEqual(['1 is never reached'])
  expect(idle({ clients: 'a' }, { operations: 'iam.*' })).toEqual([])
})

it('PUT /modes and the log report rules without effect', async () => {
  const v1 = await startUpstream(answering({}))
  const rules = [{ operations: 'iam.groupz.list', mode: 'v1' as const }]
  const modes = modesSchema.parse({ default: 'v2', rules })
  const proxy = await startProxy({ 'upstream.v2': v1.url, 'upstream.v1': v1.url, modes })
  const warning = 'modes.rules.0 (iam.groupz.list) fits no operation; crosswalk operations lists them.'
  expect(proxy.log).toContainEqual(expect.objectContaining({ level: 40, msg: warning }))
  const put = async (body: object) => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${proxy.adminUrl}/modes`, init)).json()
  }
  expect(await put({ default: 'v1', rules })).toMatchObject({ default: 'v1', warnings: [warning] })
  expect(await put({ default: 'v1' })).not.toHaveProperty('warnings')
  await proxy.close()
  await v1.close()
})
