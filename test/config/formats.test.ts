import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig, readSettings } from '../../src/app/config/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-formats-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Reads a configuration file of this name and text. */
const read = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return readSettings({ flags: { config: path }, env: {} })
}

const JSONC = `{
  // the service
  "$schema": "./configuration.schema.json",
  "upstream": { "v2": "https://api.example.com", },
  /* the rest */
  "limits": { "deadlineMs": 5 },
}`

const YAML = `# the service
$schema: ./configuration.schema.json
upstream: { v2: https://api.example.com }
limits: &all
  deadlineMs: 5
keep:
modes: diff-v1
`

describe('a configuration file', () => {
  it.each([
    ['a.json', JSONC],
    ['a.jsonc', JSONC],
    ['a.yaml', YAML],
    ['a.yml', YAML],
    ['a.conf', JSONC],
    ['a.conf', `// first\n${JSONC}`],
    ['a.conf', YAML],
    ['a.yaml', '{ "upstream": { "v2": "https://api.example.com" }, "limits": { "deadlineMs": 5 } }'],
    ['a.json', `\uFEFF${JSONC}`],
  ])('is read by its name or its first character: %s %j', (name, text) => {
    expect(read(name, text)).toMatchObject({
      config: { 'upstream.v2': 'https://api.example.com', 'limits.deadlineMs': 5 },
      problems: [],
    })
  })

  it('may have comments alone in YAML', () => {
    expect(read('empty.yaml', '# upstream:\n').problems).toEqual([])
    expect(read('empty.yaml', '').problems).toEqual([])
  })

  it('keeps dates and versions of YAML as texts', () => {
    const { config, problems } = read('dates.yaml', 'v1: { sunset: 2027-03-01 }\nupstream:\n  v2Build: "1.10"\n')
    expect({ problems, sunset: config['v1.sunset'], build: config['upstream.v2Build'] }).toEqual({
      problems: [],
      sunset: Date.parse('2027-03-01') / 1000,
      build: '1.10',
    })
  })

  it.each([
    ['a.json', '{\n  "limits": {\n    "deadlineMs": 5\n    "streams": 1 }\n}', 'line 4, column 5: a comma is missing.'],
    ['a.json', '{ "a": HIDDEN }', 'line 1, column 8: a text needs quotes around it.'],
    ['a.json', '{ "a": 1 /* HIDDEN', 'line 1, column 10: a comment has no end.'],
    ['a.json', '{ "log": {}, "log": {} }', 'line 1, column 14: an earlier member has this name.'],
    ['a.json', '', 'line 1, column 1: a value is missing.'],
    ['a.yaml', 'a: HIDDEN\n\tb: HIDDEN', 'line 2, column 1: this is not YAML (tab as indent).'],
    ['a.yaml', 'a: 1\na: 2', 'line 2, column 1: this is not YAML (duplicate key).'],
    ['a.yaml', 'a: *HIDDEN', 'an alias (*) names no anchor (&) before it, or too many of them.'],
  ])('names the line and the column of a wrong text: %s %j', (name, text, wrong) => {
    const { problems } = read(name, text)
    expect(problems).toEqual([`The configuration file ${join(folder, name)} cannot be read: ${wrong}`])
    expect(problems.join()).not.toContain('HIDDEN')
  })

  it('bounds what aliases of YAML make', () => {
    const levels = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`)
    expect(read('bomb.yaml', ['l0: &l0 [x]', ...levels].join('\n')).problems).toEqual([expect.stringContaining('cannot be read: an alias')])
  })

  it('tells every problem with its place', () => {
    const text = 'limits:\n  deadlineMs: 1s\n  stream: 1\nmodes:\n  default: v3\n  rules: [{ mode: v4 }]\n'
    const path = join(folder, 'several.yaml')
    expect(read('several.yaml', text).problems).toEqual([
      `The configuration file ${path} has an unknown key "limits.stream"; did you mean "limits.streams"?`,
      expect.stringMatching(`^modes.default in the file ${path}:5:12 must be one of v1, v2`),
      expect.stringMatching(`^modes.rules.0.mode in the file ${path}:6:19 must be one of v1, v2`),
      `limits.deadlineMs is "1s" in the file ${path}:2:15, but it must be a whole number from 1 to 3600000.`,
    ])
    expect(loadConfig({ flags: { config: path }, env: {} })).toEqual({ problem: expect.stringContaining('limits.stream') })
  })

  it('does not show the place of a secret with its text', () => {
    const path = join(folder, 'token.yaml')
    expect(read('token.yaml', 'admin:\n  token: HIDDEN\n').problems).toEqual([
      expect.stringMatching(`^admin.token in the file ${path}:2:10 must be a token of`),
    ])
  })
})
