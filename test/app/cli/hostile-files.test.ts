import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/app/cli/run.ts'
import { flagOf, SETTING_KEYS, SETTINGS, type SettingKey } from '../../../src/app/config/settings.ts'
import { sampled } from '../../sample.ts'
import { runCommand } from './support.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-hostile-'))
  for (const [nth, make] of Object.values(HOSTILE).entries()) make(join(folder, `${nth}.json`))
})

afterAll(() => rmSync(folder, { recursive: true }))

const ENDLESS = '/dev/zero'

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

/** A record whose answers are so deep that nobody can write them again. */
const DEEP_RECORD = JSON.stringify({
  ...{
    kind: 'comparison',
    id: 'abc',
    at: '2027-01-01T00:00:00.000Z',
    caller: 'a',
    operation: 'iam.roles.list',
    mode: 'diff-v1',
    shape: '',
  },
  ...{ check: 'read', outcome: 'mismatch', totals: [], examples: [], v1: { status: 200 }, v2: { status: 200 }, exhibit: 'DEEP' },
}).replace('"DEEP"', DEEP)

/** What a file may be. Its name is taken for JSON everywhere. */
const HOSTILE: Readonly<Record<string, (path: string) => void>> = {
  'a device that never ends': (path) => symlinkSync(ENDLESS, path),
  nothing: (path) => writeFileSync(path, ''),
  null: (path) => writeFileSync(path, 'null'),
  'very many levels': (path) => writeFileSync(path, DEEP),
  'a member of very many levels': (path) =>
    writeFileSync(path, `{"openapi":"3.0.3","log":${DEEP},"paths":${DEEP},"rules":${DEEP},"groups":${DEEP}}`),
  'a record of very many levels': (path) => writeFileSync(path, DEEP_RECORD),
  'bytes that are no text': (path) => writeFileSync(path, Buffer.alloc(100_000, 0xff)),
  'gzip that unpacks to very much': (path) =>
    writeFileSync(path, Buffer.concat(Array.from({ length: 20 }, () => gzipSync(Buffer.alloc(2 ** 20))))),
}

/** A file that the words of a command line name. */
const FILE = 'FILE'

const V1 = 'examples/resource-manager/openapi-v1.json'

/** Every place of a command line where a file is read: what comes before it, and what after it. */
const READ: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'case --records': [['case', 'abc', '--records', FILE]],
  'check TABLES': [['check', FILE]],
  'check --v1': [['check', '--v1', FILE, '--v2', V1]],
  'check --v2': [['check', '--v1', V1, '--v2', FILE]],
  'draft --v1': [['draft', '--v1', FILE, '--v2', V1]],
  'draft --v2': [['draft', '--v1', V1, '--v2', FILE]],
  'explain --data': [
    ['explain', 'POST /iam/v1/groups', '--data', FILE],
    ['explain', 'grpc chainguard.platform.iam.Groups/List', '--data', FILE],
  ],
  'modes FILE': [
    ['modes', 'set', FILE],
    ['modes', 'diff', FILE],
  ],
  'replay FILE': [
    ['replay', FILE],
    ['replay', FILE, '--format', 'records'],
    ['replay', FILE, '--format', '$remote_addr "$request" $status'],
    ['replay', FILE, '--fields', 'method=a,path=b'],
    ['replay', FILE, '--format', 'records', '--guide', 'abc'],
  ],
  'rehearse FILE': [['rehearse', FILE, '--dry-run', '--format', 'records']],
  'report FILE': [['report', FILE]],
  'report --against': [['report', FILE, '--against', FILE]],
  'sandbox --data': [['sandbox', '--data', FILE, '--sandbox-port', '0']],
  'demo --data': [['demo', '--data', FILE, '--sandbox-port', '0', '--port', '0', '--admin-port', '0']],
  '--config': ['serve', 'config', 'cutover', 'clients', 'status', 'replay'].map((command) => [
    command,
    ...(command === 'replay' ? [FILE] : []),
    '--config',
    FILE,
  ]),
}

/** Flags whose file is written. */
const WRITTEN = /^(.* --(out|html|junit|sarif|csv)|sandbox token --file|replay --records)$/

async function givenFlags(): Promise<readonly string[]> {
  const loaded = await Promise.all(Object.entries(COMMANDS).map(async ([words, load]) => [words, await load()] as const))
  const isFile = (value: string | undefined) => value !== undefined && /\bFILE\b/.test(value)
  return loaded.flatMap(([words, { flags, usage }]) => [
    ...Object.entries(flags).flatMap(([name, { value, env }]) => (isFile(value) && env === undefined ? [`${words} --${name}`] : [])),
    ...(/\b(FILE|TABLES)\b/.exec(usage.replace(/--\S+ \S+/g, ''))?.slice(0, 1) ?? []).map((arg) => `${words} ${arg}`),
  ])
}

it('tries every file that a command reads', async () => {
  const tried = Object.keys(READ)
  expect((await givenFlags()).filter((place) => !WRITTEN.test(place) && !tried.includes(place))).toEqual([])
})

describe.each(Object.keys(HOSTILE).map((what, nth) => [what, nth] as const))('%s', (what, nth) => {
  it.each(sampled(Object.entries(READ), 4, nth))('ends in a sentence or is read, at %s', async (_, lines) => {
    for (const line of lines) {
      const { code, out, err } = await runCommand(line.map((word) => (word === FILE ? join(folder, `${nth}.json`) : word)))
      expect([line, `${out}\n${err}`]).toEqual([line, expect.not.stringMatching(/\n {4}at |(Range|Type|Syntax)Error/)])
      if (what === 'a device that never ends') expect([line, code > 0, err]).toEqual([line, true, expect.stringMatching(/^[^\n]+$/)])
    }
  })
})

/** Settings that name a file, and those that may hold a secret in one. */
function fileSettings(): readonly (readonly [SettingKey, string])[] {
  const given = (key: SettingKey): string | undefined => {
    const { kind } = SETTINGS[key] as { readonly kind: { readonly value?: string; readonly secret?: true } }
    if (kind.value === 'FILE') return ENDLESS
    if (key === 'store.url') return `file:${ENDLESS}`
    return kind.secret ? `@${ENDLESS}` : undefined
  }
  return SETTING_KEYS.flatMap((key) => {
    const value = given(key)
    return value === undefined ? [] : [[key, value] as const]
  })
}

it.each(fileSettings())('ends a start with a sentence when %s is %s', async (key, value) => {
  const beside = key.startsWith('upstream.v1') ? ['--upstream-v1', 'https://127.0.0.1:1'] : []
  const { code, err } = await runCommand(
    ['serve', '--check', '--upstream-v2', 'https://127.0.0.1:2', ...beside, `--${flagOf(key)}`, value].filter((word) => word !== ''),
  )
  expect([code, err]).toEqual([2, expect.stringMatching(/^(?!.*Error\b)[^\n]+(\n[^\n]+)*$/)])
})
