import { bytesOf, type FieldLine, FLAG, type Frame, frame, headerBlock, PREFACE, TYPE, uint32 } from '../../frames.ts'
import type { Dice } from '../dice.ts'
import type { Case } from '../prey.ts'
import { drawRequest } from './requests.ts'

/** The frames of a client on one connection. `ping`: it leaves when the server has read everything. */
export interface SequenceCase extends Case {
  readonly parts: readonly Buffer[]
  readonly ends: 'ping' | 'linger' | 'fin' | 'reset'
}

/** Draws a sequence that records which streams it has opened. */
export function drawSequence(dice: Dice): SequenceCase {
  const streams: number[] = []
  let lies = false
  const open = () => {
    const id = (streams.at(-1) ?? -1) + 2
    streams.push(id)
    return id
  }
  /** Usually an open stream. */
  const some = () => (streams.length > 0 && dice.chance(0.85) ? dice.one(streams) : dice.one([0, 1, 2, 3, 5, 99, 2 ** 31 - 1]))
  const request = (): Frame[] => drawRequest(dice, open())
  const step = (): Frame[] =>
    dice.weighed<Frame[]>([
      [5, request],
      [6, () => [drawOther(dice, some)]],
      [1, () => [drawSettings(dice)]],
    ])
  const frames = [...request(), ...dice.some(1, 8, step).flat()]
  const parts = frames.map((one) => {
    if (!dice.chance(0.02)) return bytesOf(one)
    lies = true
    return bytesOf({ ...one, length: dice.one([0, 1, one.payload.length + 1, Math.max(0, one.payload.length - 1), 16_385, 2 ** 24 - 1]) })
  })
  const greeting = [
    ...(dice.chance(0.99) ? [PREFACE] : [PREFACE.subarray(0, 3 + dice.below(22))]),
    ...(dice.chance(0.97) ? [bytesOf(drawSettings(dice, 0.8))] : []),
  ]
  const goes = lies || greeting[0] !== PREFACE ? (['fin', 'reset'] as const) : (['ping', 'ping', 'linger', 'fin', 'reset'] as const)
  return { parts: [...greeting, ...parts], ends: dice.one(goes) }
}

/** Names and limits of settings (RFC 9113 §6.5.2). */
function drawSettings(dice: Dice, plain = 0.3): Frame {
  if (dice.chance(plain)) return frame(TYPE.SETTINGS, 0, 0)
  const entry = () => {
    const bytes = Buffer.alloc(6)
    bytes.writeUInt16BE(dice.one([1, 2, 3, 4, 5, 6, 8, 9, 0, 65_535]))
    bytes.writeUInt32BE(dice.one([0, 0, 1, 2, 100, 16_384, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]), 2)
    return bytes
  }
  const payload = dice.chance(0.95) ? Buffer.concat(dice.some(1, 4, entry)) : Buffer.alloc(dice.below(12))
  return frame(TYPE.SETTINGS, dice.chance(0.95) ? 0 : FLAG.ACK, dice.chance(0.98) ? 0 : 1, payload)
}

/** Draws any frame that is no request, often where it is not allowed. */
function drawOther(dice: Dice, stream: () => number): Frame {
  const junk = () => Buffer.from(dice.some(0, 12, () => dice.below(256)))
  const flags = () => (dice.chance(0.7) ? 0 : dice.below(256))
  const number = () => uint32(dice.one([0, 1, 2, 8, 100, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]))
  const trailer: readonly FieldLine[] = [
    dice.one<FieldLine>([
      ['grpc-x', '1'],
      [':path', '/'],
      ['content-length', '3'],
      ['X-Up', '1'],
      ['x\0', '1'],
      ['te', 'x'],
    ]),
  ]
  return dice.weighed<Frame>([
    [6, () => frame(TYPE.RST_STREAM, 0, stream(), dice.chance(0.95) ? number() : junk())],
    [5, () => frame(TYPE.WINDOW_UPDATE, 0, stream(), dice.chance(0.95) ? number() : junk())],
    [
      5,
      () =>
        frame(
          TYPE.DATA,
          dice.one([0, 0, FLAG.END_STREAM, FLAG.PADDED, FLAG.PADDED | FLAG.END_STREAM]),
          stream(),
          dice.chance(0.8) ? junk() : Buffer.alloc(dice.one([16_384, 16_385, 70_000])),
        ),
    ],
    [3, () => frame(TYPE.HEADERS, FLAG.END_HEADERS | (dice.chance(0.8) ? FLAG.END_STREAM : 0), stream(), headerBlock(trailer))],
    [2, () => frame(TYPE.PRIORITY, 0, stream(), dice.chance(0.9) ? Buffer.concat([uint32(stream()), Buffer.of(dice.below(256))]) : junk())],
    [2, () => frame(TYPE.CONTINUATION, dice.one([0, FLAG.END_HEADERS]), stream(), dice.chance(0.5) ? headerBlock(trailer) : junk())],
    [2, () => frame(TYPE.PING, flags(), dice.chance(0.9) ? 0 : stream(), dice.chance(0.9) ? Buffer.alloc(8) : junk())],
    [1, () => frame(TYPE.GOAWAY, 0, dice.chance(0.9) ? 0 : stream(), Buffer.concat([uint32(stream()), number(), junk()]))],
    [1, () => frame(TYPE.PUSH_PROMISE, FLAG.END_HEADERS, stream(), Buffer.concat([uint32(2), headerBlock([[':method', 'GET']])]))],
    [1, () => frame(TYPE.SETTINGS, FLAG.ACK, 0)],
    [2, () => frame(10 + dice.below(246), flags(), stream(), junk())],
    [1, () => frame(dice.below(11), dice.below(256), stream(), junk())],
  ])
}
