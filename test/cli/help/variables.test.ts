import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unknownVariables } from '../../../src/app/config/config.ts'

const TOLD = ['README.md', 'CONTRIBUTING.md', ...filesIn('docs'), ...filesIn('docker')]

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describe('a variable', () => {
  it('that documents or manifests name is known', () => {
    const names = TOLD.flatMap((file) => readFileSync(file, 'utf8').match(/\bCROSSWALK_[A-Z][A-Z\d_]*[A-Z\d]\b/g) ?? [])
    expect(names.length).toBeGreaterThan(100)
    expect([...new Set(names)].filter((name) => unknownVariables({ [name]: 'x' }).length > 0)).toEqual([])
  })

  it.each([
    'CROSSWALK_SERVICE_HOST',
    'CROSSWALK_SERVICE_PORT_HTTP',
    'CROSSWALK_PORT_8080_TCP_ADDR',
    'CROSSWALK_ADMIN_SERVICE_PORT',
    'CROSSWALK_CANARY_PORT_8080_TCP',
    'CROSSWALK_PORT',
    'CROSSWALK_ADMIN_PORT',
    'CROSSWALK_REDIS_PORT',
  ])('that Kubernetes sets for a service is none of ours: %s', (name) => {
    expect(unknownVariables({ [name]: 'tcp://10.0.0.1:8080' })).toEqual([])
  })

  it('that is misspelt is refused, its value is not told', () => {
    expect(unknownVariables({ CROSSWALK_PROT: 'HIDDEN', CROSSWALK_ZEBRAS_IN_LINE: 'HIDDEN' })).toEqual([
      'The environment variable CROSSWALK_PROT is not a setting; did you mean "CROSSWALK_PORT"?',
      'The environment variable CROSSWALK_ZEBRAS_IN_LINE is not a setting; crosswalk help serve lists those that are.',
    ])
  })

  it('is like no other by the beginning that all share', () => {
    expect(unknownVariables({ CROSSWALK_FOO: 'x' })).toEqual([
      'The environment variable CROSSWALK_FOO is not a setting; crosswalk help serve lists those that are.',
    ])
  })

  it('counts as unset if it is empty', () => {
    expect(unknownVariables({ CROSSWALK_PROT: '', PORT: 'x' })).toEqual([])
  })
})
