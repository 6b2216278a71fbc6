import { gzipSync } from 'node:zlib'
import type { Dice } from '../dice.ts'

/** The limit of a message in the wire under test. */
export const MOST = 1000

/** What carries a call. */
export type WireWay = 'grpc' | 'stream' | 'web' | 'text' | 'connect' | 'get'

/** One call that is hostile, malformed or sound. */
export interface WireCase {
  readonly way: WireWay
  readonly version: 1 | 2
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The bytes after which a new piece begins. */
  readonly cuts: readonly number[]
  /** How the client ends: as it should, by a reset in the middle, or never, so that its own deadline must end the call. */
  readonly end: 'whole' | 'reset' | 'never'
  /** The codes that may answer; undefined for any but UNKNOWN. */
  readonly codes: readonly number[] | undefined
  /** The message that an answer with OK repeats. */
  readonly message: Buffer | undefined
}

interface Body {
  readonly body: Buffer
  readonly isCompressed?: true
  readonly codes?: readonly number[]
  readonly message?: Buffer
}

const TYPES: Readonly<Record<WireWay, string>> = {
  grpc: 'application/grpc',
  stream: 'application/grpc',
  web: 'application/grpc-web+proto',
  text: 'application/grpc-web-text',
  connect: 'application/proto',
  get: '',
}

/** Headers that are wrong, or right by chance. */
const ODD: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['grpc-encoding', ['gzip', 'identity', 'br', '', 'gzip, gzip', 'GZIP']],
  ['content-encoding', ['gzip', 'identity', 'br', 'gzip, identity']],
  ['grpc-timeout', ['1S', '0n', '99999999H', '1.5S', '-1m', 'S', '123456789m', '5m']],
  ['connect-timeout-ms', ['1000', '0', '-1', '99999999999', 'x', '5']],
  ['connect-protocol-version', ['1', '2', '']],
  [
    'content-type',
    ['application/grpc+json', 'application/grpc+', 'application/grpc;x', 'application/json', 'text/plain', 'application/connect+proto'],
  ],
  ['accept-encoding', ['gzip', '*', 'gzip;q=0']],
]

export function drawWireCase(dice: Dice): WireCase {
  const way = dice.one<WireWay>(['grpc', 'grpc', 'stream', 'web', 'text', 'connect', 'get'])
  const isBare = way === 'connect' || way === 'get'
  const version = way === 'grpc' || way === 'stream' ? 2 : dice.one<1 | 2>([1, 2])
  const drawn = isBare ? bareBody(dice) : framedBody(dice, way === 'stream')
  const coding = isBare ? 'content-encoding' : 'grpc-encoding'
  const odd = dice.chance(0.2) ? dice.some(1, 3, () => dice.one(ODD)) : []
  const headers = {
    ...(TYPES[way] !== '' && { 'content-type': TYPES[way] }),
    ...(drawn.isCompressed && { [coding]: 'gzip' }),
    ...Object.fromEntries(odd.map(([name, values]) => [name, dice.one(values)])),
  }
  const body = way === 'text' ? Buffer.from(drawn.body.toString('base64')) : drawn.body
  const end =
    way === 'get' || body.length === 0
      ? 'whole'
      : dice.weighed<WireCase['end']>([
          [8, () => 'whole'],
          [1, () => 'reset'],
          [1, () => 'never'],
        ])
  const deadline = end === 'never' ? { 'grpc-timeout': '10m', 'connect-timeout-ms': '10' } : {}
  const isKnown = odd.length === 0 && end === 'whole'
  const cuts = dice.chance(0.3) ? dice.some(1, 4, () => dice.below(body.length + 1)).sort((a, b) => a - b) : []
  return {
    ...{ way, version, headers: { ...headers, ...deadline }, body, cuts, end },
    codes: isKnown ? drawn.codes : undefined,
    message: isKnown ? drawn.message : undefined,
  }
}

const bytes = (dice: Dice, most: number) => Buffer.from(dice.some(0, most, () => dice.below(256)))

function frame(message: Buffer, flags = 0): Buffer {
  const prefix = Buffer.alloc(5, flags)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A gzip that becomes far more than the limit. */
const BOMB = gzipSync(Buffer.alloc(8 * 2 ** 20))

function spoilt(dice: Dice, whole: Buffer): Buffer {
  const copy = Buffer.from(whole)
  for (const at of dice.some(1, 3, () => dice.below(copy.length))) copy[at] = dice.below(256)
  return copy
}

function framedBody(dice: Dice, isStream: boolean): Body {
  const message = bytes(dice, 200)
  const sound = frame(message)
  const many = isStream ? undefined : [12]
  return dice.weighed<Body>([
    [4, () => ({ body: sound, codes: [0], message })],
    [2, () => ({ body: frame(gzipSync(message), 1), isCompressed: true, codes: [0], message })],
    [2, () => ({ body: bytes(dice, 60) })],
    [2, () => ({ body: sound.subarray(0, dice.below(sound.length)), codes: isStream ? [0, 13] : [12, 13] })],
    [1, () => ({ body: frame(Buffer.alloc(MOST + 1 + dice.below(5000))), codes: [8] })],
    [1, () => ({ body: Buffer.concat([sound, frame(bytes(dice, 200))]), ...(many && { codes: many }) })],
    [1, () => ({ body: frame(message, 2 + dice.below(254)), codes: [13] })],
    [1, () => ({ body: frame(gzipSync(message), 1), codes: [13] })],
    [1, () => ({ body: frame(BOMB, 1), isCompressed: true, codes: [8] })],
    [1, () => ({ body: frame(spoilt(dice, gzipSync(message)), 1), isCompressed: true })],
    [1, () => ({ body: spoilt(dice, sound) })],
  ])
}

function bareBody(dice: Dice): Body {
  const message = bytes(dice, 200)
  return dice.weighed<Body>([
    [4, () => ({ body: message, codes: [0], message })],
    [2, () => ({ body: gzipSync(message), isCompressed: true, codes: [0], message })],
    [1, () => ({ body: Buffer.alloc(MOST + 1 + dice.below(5000)), codes: [8] })],
    [1, () => ({ body: BOMB, isCompressed: true, codes: [8] })],
    [1, () => ({ body: spoilt(dice, gzipSync(message)), isCompressed: true })],
    [1, () => ({ body: bytes(dice, 60), isCompressed: true })],
  ])
}
