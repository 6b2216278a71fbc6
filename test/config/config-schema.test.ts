import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { parse as parseJsonc } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { configSchema } from '../../src/app/config/config.ts'
import { SETTING_KEYS } from '../../src/app/config/settings.ts'
import { CONFIGURATIONS } from '../docs/configurations.ts'

const ajv = new Ajv({ strict: true, allowUnionTypes: true })
addFormats.default(ajv)
const isValid = ajv.compile(configSchema())

/** An object with a value at the place of a key. */
const withValue = (key: string, value: unknown) => key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)

describe('the JSON Schema of a configuration file', () => {
  it.each(CONFIGURATIONS)('accepts what $page shows: $text', ({ text }) => {
    isValid(text.startsWith('{') ? parseJsonc(text) : parseYaml(text))
    expect(isValid.errors).toBeNull()
  })

  it('is what the documents ship', () => {
    expect(JSON.parse(readFileSync('docs/configuration.schema.json', 'utf8'))).toEqual(configSchema())
  })

  it.each(SETTING_KEYS)('knows %s and refuses a wrong value', (key) => {
    expect(isValid(withValue(key, { never: ['this'] }))).toBe(false)
  })

  it.each([
    { $schema: './configuration.schema.json' },
    { modes: 'diff-v1' },
    { workers: 'auto' },
    { workers: 2 },
    { forwarded: { trusted: ['10.0.0.0/8'] } },
    { forwarded: { trusted: '10.0.0.0/8' } },
    { admin: { tokens: { alice: '@alice.token' } } },
    { v1: { sunset: '2027-03-01', deprecation: '2027-03-01T12:00:00Z' } },
  ])('accepts %j', (file) => expect(isValid(file)).toBe(true))

  it.each([
    { upstrem: {} },
    { limits: { deadlinMs: 5 } },
    { limits: { deadlineMs: 0 } },
    { listen: { port: 65_536 } },
    { modes: { rules: [] } },
    { modes: { default: 'v2', rules: [{ mode: 'v2', canary: { percent: 101, mode: 'v1' } }] } },
    { v1: { sunset: 'soon' } },
    { admin: { tokens: { 'admin.token': 'x' } } },
  ])('refuses %j', (file) => expect(isValid(file)).toBe(false))
})
