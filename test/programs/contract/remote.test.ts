import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'
import { cases } from '../../contract/cases/index.ts'
import { run } from '../../contract/run.ts'
import { playable, readFlags, remoteTarget } from './target.ts'

describe('the arguments of npm run contract', () => {
  it('name an address, a token and more of either', () => {
    const args = [
      ...['--target', 'http://h/', '--token', 'o', '--as', 'viewer=a=b', '--dialect', 'published', '--side', 'genuine', '--read-only'],
    ]
    expect(readFlags(args)).toEqual({
      target: 'http://h',
      dialect: 'published',
      over: 'rest',
      side: 'genuine',
      organization: undefined,
      readOnly: true,
      tokens: { owner: 'o', viewer: 'a=b' },
    })
  })

  it.each([
    [['--token', 'o'], '--target and --token are needed'],
    [['--target', 'http://h', '--token', 'o', '--dialect', 'klingon'], '--dialect takes specification, published, not "klingon"'],
    [
      ['--target', 'http://h', '--token', 'o', '--over', 'grpc', '--dialect', 'specification'],
      '--dialect takes published, not "specification"',
    ],
    [['--target', 'http://h', '--token', 'o', '--as', 'god=x'], '--as takes editor, viewer, outsider, admin, expired, not "god"'],
  ])('are refused if incomplete: %j', (args, sentence) => {
    expect(() => readFlags(args)).toThrow(sentence)
  })
})

describe('the contract at an address', () => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, v1Dialect: 'published' })
  })

  afterAll(() => sandbox.close())

  const flags = (...more: readonly string[]) =>
    readFlags(['--target', sandbox.url, '--token', sandbox.tokens.owner, '--side', 'genuine', '--dialect', 'published', ...more])

  it.each(['rest', 'grpc'])('finds the organization of the token, prints each request first, and passes over %s', async (over) => {
    const told: string[] = []
    const target = await remoteTarget(flags('--over', over), (line) => told.push(line))
    expect(target.organization).toBe(sandbox.organization)
    const [one] = playable(cases, flags('--read-only')).filter(({ operations }) => operations.includes('libraries.artifacts.count'))
    if (!one) throw new Error('there is no such case')
    expect((await run(one, target)).failure).toBeUndefined()
    expect(told).toContain('owner: GET /libraries/v1/artifacts/count')
  })

  it('asks for an organization if the token sees several', async () => {
    const args = ['--target', sandbox.url, '--token', sandbox.tokens.admin]
    await expect(remoteTarget(readFlags(args), () => {})).rejects.toThrow(/name one with --organization UID: [0-9a-f]{40} \(/)
  })

  it('plays only reading cases on request, and only roles with a token', () => {
    const all = playable(cases, flags())
    const reading = playable(cases, flags('--read-only'))
    expect(reading.every(({ reads }) => reads)).toBe(true)
    expect(reading.length).toBeLessThan(all.length)
    expect(all.length).toBeLessThan(playable(cases, flags('--as', 'viewer=v', '--as', 'admin=a')).length)
    expect(all.some(({ roles }) => roles?.includes('viewer'))).toBe(false)
  })
})
