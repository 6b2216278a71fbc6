import { describe, expect, it } from 'vitest'
import {
  adminTokens,
  admissionLimits,
  callTimes,
  clientTimes,
  compatSettings,
  configWith,
  migrationSettings,
  retirement,
} from '../../src/app/config/config.ts'
import { changedBetween, whyRestart } from '../../src/app/config/live.ts'
import { type Config, SETTING_KEYS, type SettingKey } from '../../src/app/config/settings.ts'

type Read = (config: Config) => () => unknown

/** Other values of settings that a getter reads, and what must change with them. */
const READ: Partial<Record<SettingKey, readonly [value: unknown, read: Read]>> = {
  'admin.token': ['x', (config) => () => adminTokens(config)],
  'admin.tokens': [[{ name: 'a', token: 'x' }], (config) => () => adminTokens(config)],
  'admin.readToken': ['x', (config) => () => adminTokens(config)],
  ...compat('v2.maskCase', 'camel', 'maskCase'),
  ...compat('v2.replaceMask', 'known', 'replaceMask'),
  ...compat('registry.readmes', false, 'readmes'),
  ...compat('errors.notFound', 'error', 'notFound'),
  ...compat('unknownParameters', 'refuse', 'unknownParameters'),
  ...limit('callsPerRequest'),
  ...limit('parallelCalls'),
  ...limit('bufferedRows'),
  ...limit('rowsPerRequest'),
  ...admission('requestsInFlight'),
  ...admission('callerInFlight'),
  ...admission('callerPerSecond'),
  'limits.callTimeoutMs': [7, partOf(callTimes, ({ callTimeoutMs }) => callTimeoutMs)],
  'limits.bodyTimeoutMs': [7, partOf(clientTimes, ({ bodyMs }) => bodyMs)],
  'limits.writeTimeoutMs': [7, partOf(clientTimes, ({ writeMs }) => writeMs)],
  'limits.streamBytes': [7, partOf(clientTimes, ({ streamBytes }) => streamBytes)],
  ...leaving('drainMs'),
  ...leaving('lingerMs'),
  ...leaving('shutdownMs'),
  'circuit.probePercent': [7, comparing(({ probePercent }) => probePercent)],
  'diff.learnEvery': [7, comparing(({ learnEvery }) => learnEvery)],
  'diff.perSecond': [7, comparing(({ perSecond }) => perSecond)],
  'diff.verifyWrites': [false, comparing(({ verifyWrites }) => verifyWrites)],
  'diff.waiting': [7, comparing(({ queue }) => queue.waiting)],
  'diff.waitingBytes': [7, comparing(({ queue }) => queue.characters)],
  'clients.names': [{ a: 'x' }, comparing(({ names }) => names())],
  'diff.parallel': [7, comparing(({ queue }) => queue.parallel)],
  'cutover.each': [7, comparing(({ terms }) => terms().each)],
  'cutover.operations': [[{ operations: 'iam.*', target: 0.1 }], comparing(({ terms }) => terms().operations)],
}

/** Live settings that are not read through a getter, and what tests them. */
const ELSEWHERE = ['modes', 'diff.ignore', 'log.level', 'keep.ttlMs']

type Compat = ReturnType<typeof compatSettings>

function compat(key: SettingKey, value: unknown, name: keyof Compat): typeof READ {
  return { [key]: [value, partOf(compatSettings, (part) => part[name])] }
}

function limit(name: keyof Compat['limits'] & string): typeof READ {
  return { [`limits.${name}`]: [7, partOf(compatSettings, ({ limits }) => limits[name])] }
}

function admission(name: keyof ReturnType<typeof admissionLimits>): typeof READ {
  return { [`limits.${name}`]: [7, partOf(admissionLimits, (part) => part[name])] }
}

function leaving(name: keyof ReturnType<typeof retirement>): typeof READ {
  return { [`limits.${name}`]: [7, (config: Config) => () => retirement(config)[name]] }
}

function comparing(read: (part: ReturnType<typeof migrationSettings>) => unknown) {
  return partOf(migrationSettings, read)
}

/** Makes the part once, as a server does, and reads it again and again. */
function partOf<Part>(make: (config: Config) => Part, read: (part: Part) => unknown) {
  return (config: Config) => {
    const part = make(config)
    return () => read(part)
  }
}

const LIVE = SETTING_KEYS.filter((key) => whyRestart(key) === undefined)

describe('live settings', () => {
  it('are all tried', () => {
    expect([...Object.keys(READ), ...ELSEWHERE].sort()).toEqual([...LIVE].sort())
  })

  it.each(Object.entries(READ))('are read where they are needed: %s', (key, [value, read]) => {
    const config = { ...configWith({}) }
    const now = read(config)
    const before = now()
    Object.assign(config, { [key]: value })
    expect(now()).not.toEqual(before)
  })

  it('are told apart from those that need a restart', () => {
    const before = configWith({ modes: { default: 'v2', rules: [], testers: [] } })
    const after = configWith({ 'log.level': 'warn', 'listen.port': 7, modes: { default: 'v1', rules: [], testers: [] } })
    expect(changedBetween(before, after)).toEqual({ live: { 'log.level': 'warn' }, restart: ['listen.port'] })
    expect(changedBetween(before, configWith({}))).toEqual({ live: {}, restart: [] })
  })
})
