import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import type { OperationRow } from '../../../src/tools/explore.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { runCommand } from '../support.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const listed = async (...argv: string[]) => JSON.parse((await runCommand(['operations', ...argv, '--json'])).out) as OperationRow[]

describe('operations lists', () => {
  it.each(['iam.groups', 'iam.groups.*', 'iam.groups.list', '*.list'])('those that %s fits', async (pattern) => {
    const ids = (await listed(pattern)).map(({ id }) => id)
    const begin = pattern.replaceAll('*', '')
    expect(ids).toEqual(operations.map(({ id }) => id).filter((id) => (pattern === '*.list' ? id.endsWith(begin) : id.startsWith(begin))))
    expect(ids).not.toEqual([])
  })

  it('those of a kind, and totals at the end', async () => {
    const kind = operations.filter((one) => one.kind === 'emulated')
    expect((await listed('--kind', 'emulated')).map(({ id }) => id)).toEqual(kind.map(({ id }) => id))
    const { out } = await runCommand(['operations', '--kind', 'emulated'])
    expect(out.split('\n').at(-1)).toBe(`${kind.length} operations: ${kind.length} emulated`)
    expect((await runCommand(['operations'])).out.split('\n').at(-1)).toMatch(
      /^\d+ operations: \d+ direct, \d+ composed, \d+ emulated, \d+ v1-only$/,
    )
  })

  it.each([
    [['iamm'], '"iamm" fits no operation; did you mean "iam"?'],
    [['iam.group.list'], '"iam.group.list" fits no operation; did you mean "iam.groups.list"?'],
    [['--kind', 'emulatd'], 'crosswalk operations takes no --kind emulatd; did you mean "emulated"?'],
  ])('nothing for %j', async (argv, err) => {
    expect(await runCommand(['operations', ...argv])).toEqual({ code: 2, out: '', err })
  })
})

describe('clients lists', () => {
  const use = (operation: string) => ({ operation, calls: 1, firstSeen: 0, lastSeen: 0, modes: ['v2'], mismatches: 0 })
  const client = (caller: string, calls: number, ...used: string[]) => ({
    ...{ caller, calls, lastSeen: 0, mismatches: 0, couldMove: true, blockers: [], cautions: [] },
    operations: used.map(use),
  })
  const ask = async (...argv: string[]) => {
    const known = [client('aa', 1, 'iam.groups.list'), client('bb', 7, 'iam.groups.list'), client('cc', 3, 'registry.repos.list')]
    const { url, close } = await startUpstream(answering(known))
    onTestFinished(close)
    return runCommand(['clients', '--admin', url, ...argv])
  }
  const callersIn = (json: string) => (JSON.parse(json) as readonly { caller: string }[]).map(({ caller }) => caller)

  it('those with the most calls', async () => {
    expect(callersIn((await ask('--top', '2', '--json')).out)).toEqual(['bb', 'cc'])
    expect((await ask('--top', '1')).out.split('\n').at(-1)).toMatch(/^3 clients, 11 calls: \d could call v2 without v1$/)
  })

  it('those that call an operation', async () => {
    expect(callersIn((await ask('--operations', 'iam', '--json')).out).sort()).toEqual(['aa', 'bb'])
    expect((await ask('--operations', 'iam.groupz')).err).toBe('"iam.groupz" fits no operation; did you mean "iam.groups"?')
    expect((await ask('--top', 'x')).err).toBe('--top is "x", but it must be a whole number from 1 to 9999999.')
  })
})

it('replay --top shortens its lists', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-top-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'access.log')
  const paths = ['/iam/v1/groups', '/iam/v1/groups', '/iam/v1/roles', '/registry/v1/repos']
  writeFileSync(path, paths.map((one) => `192.0.2.1 - ci [10/Oct/2026:15:55:00 +0200] "GET ${one} HTTP/1.1" 200 5 "-" "-"\n`).join(''))
  const { out } = await runCommand(['replay', path, '--top', '1'])
  expect(out).toMatch(/^operations\n {2}iam\.groups\.list .*\n {2}and 2 more$/m)
  expect((await runCommand(['replay', path])).out).not.toContain('more')
})
