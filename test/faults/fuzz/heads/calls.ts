import { type FieldLine, FLAG, type Frame, frame, headerBlock, headers, TYPE, uint32 } from '../../frames.ts'
import type { Dice } from '../dice.ts'
import type { Case } from '../prey.ts'
import { NO_KEY, type Script2 } from '../upstream/script.ts'
import { HUGE, NAMES, ODD_NAMES, ODD_STATUSES, STATUSES, VALUES } from './vocabulary.ts'

/** One field, or a frame that is sent unchanged; `null` ends a block of fields. */
export type CallPart =
  | { readonly field: FieldLine }
  /** The fields before it become a block. */
  | { readonly block: { readonly flags: number; readonly pieces: number } }
  | { readonly frame: Frame }

/** An answer of the upstream to a gRPC call; NO_KEY stands for the key of the call. */
export interface CallCase extends Case {
  readonly parts: readonly CallPart[]
}

const END = FLAG.END_HEADERS | FLAG.END_STREAM

/**
 * The weight of parts that end the connection with its stream.
 * Node with an older nghttp2 then neither reads nor ends the connection, and every later call on it hangs.
 */
const BREAKS = Number(process.versions.nghttp2?.split('.')[1]) < 69 ? 0 : 1

export function drawCall(dice: Dice): CallCase {
  const odd = (): CallPart[] => dice.some(0, 3, () => oddField(dice)).flat()
  const block = (flags: number): CallPart[] => [{ block: { flags, pieces: dice.chance(0.1) ? 2 + dice.below(5) : 1 } }]
  const status = (): FieldLine => [
    ':status',
    dice.weighed([
      [7, () => '200'],
      [1, () => dice.one(STATUSES)],
      [2, () => dice.one(ODD_STATUSES)],
    ]),
  ]
  const begin = (): CallPart[] => [
    ...(dice.chance(0.97) ? [{ field: status() }] : []),
    ...fieldsOf(dice, [
      ['content-type', 'application/grpc'],
      ['x-case', NO_KEY],
    ]),
    ...odd(),
  ]
  const end = (): CallPart[] => [
    ...fieldsOf(dice, [
      ['grpc-status', dice.one(['0', '0', '0', '5', '16', '99', '-1', 'x', ''])],
      ['grpc-message', 'm%20'],
      ['x-end', NO_KEY],
    ]),
    ...odd(),
  ]
  const early = (): CallPart[] => [
    { field: [':status', dice.one(['100', '103', '101', '199', '1xx'])] },
    ...odd(),
    ...block(FLAG.END_HEADERS),
  ]
  const heads = [
    ...dice.weighed<CallPart[]>([
      [8, () => []],
      [1, () => dice.some(1, 40, early).flat()],
    ]),
    ...begin(),
  ]
  const parts = dice.weighed<CallPart[]>([
    [6, () => [...heads, ...block(FLAG.END_HEADERS), ...dice.some(0, 3, () => data(dice, 0)), ...end(), ...block(END)]],
    [2, () => [...heads, ...end(), ...block(END)]],
    [1, () => [...heads, ...block(FLAG.END_HEADERS), data(dice, FLAG.END_STREAM)]],
    [1, () => [...heads, ...block(FLAG.END_HEADERS), ...end(), ...block(FLAG.END_HEADERS)]],
    [BREAKS, () => [...heads, ...block(END), data(dice, 0)]],
    [BREAKS, () => [data(dice, 0), ...heads, ...block(END)]],
  ])
  if (dice.chance(0.1)) parts.splice(dice.below(parts.length + 1), 0, { frame: oddFrame(dice) })
  return { parts }
}

const fieldsOf = (dice: Dice, all: readonly FieldLine[]): CallPart[] => all.filter(() => dice.chance(0.95)).map((field) => ({ field }))

/** Draws a field that may be invalid, sometimes twice. */
function oddField(dice: Dice): CallPart[] {
  const name = dice.weighed<string>([
    [6, () => dice.one(NAMES)],
    [2, () => dice.one(ODD_NAMES)],
    [1, () => dice.one(['x-bin', 'grpc-status-details-bin', 'grpc-encoding', 'grpc-timeout'])],
  ])
  const part: CallPart = { field: [name, dice.chance(0.02 * BREAKS) ? HUGE : dice.one(VALUES)] }
  return dice.chance(0.3) ? [part, part] : [part]
}

const data = (dice: Dice, flags: number): CallPart => ({
  frame: frame(TYPE.DATA, flags, 1, Buffer.from(dice.one(['\0\0\0\0\x01a', '', 'x', 'y'.repeat(5000)]), 'latin1')),
})

/** Some end the stream, some the whole connection. */
function oddFrame(dice: Dice): Frame {
  return dice.weighed<Frame>([
    [6, () => frame(TYPE.RST_STREAM, 0, 1, uint32(dice.below(15)))],
    [2, () => frame(TYPE.WINDOW_UPDATE, 0, 1, uint32(dice.one([1, 2 ** 31 - 1])))],
    [0.1 * BREAKS, () => frame(TYPE.WINDOW_UPDATE, 0, dice.one([0, 1]), uint32(0))],
    [2, () => frame(10 + dice.below(200), dice.below(256), dice.one([0, 1]), Buffer.alloc(dice.below(20)))],
    [2, () => frame(TYPE.PRIORITY, 0, 1, Buffer.alloc(5))],
    [1, () => frame(TYPE.PING, 0, 0, Buffer.alloc(8))],
    [0.3, () => frame(TYPE.GOAWAY, 0, 0, Buffer.concat([uint32(dice.one([0, 1, 2 ** 31 - 1])), uint32(dice.below(14))]))],
    [0.1 * BREAKS, () => frame(TYPE.CONTINUATION, FLAG.END_HEADERS, 1, headerBlock([['x', 'y']]))],
    [0.1 * BREAKS, () => frame(TYPE.PUSH_PROMISE, FLAG.END_HEADERS, 1, Buffer.concat([uint32(2), headerBlock([[':method', 'GET']])]))],
    [0.1 * BREAKS, () => frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(dice.one([5, 6])))],
    [0.1 * BREAKS, () => headers(1, [], FLAG.PADDED | FLAG.END_HEADERS)],
    [0.1 * BREAKS, () => frame(TYPE.HEADERS, FLAG.END_HEADERS, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f))],
  ])
}

/** Returns the frames to send. A block without an end, as after shrinking, gets one. */
export function scriptOfCall({ parts }: CallCase, key: string): Script2 {
  const frames: Frame[] = []
  let fields: FieldLine[] = []
  for (const part of parts) {
    if ('field' in part) fields.push([part.field[0], part.field[1].replaceAll(NO_KEY, key)])
    else if ('frame' in part) frames.push(part.frame)
    else {
      frames.push(...split(headerBlock(fields), part.block))
      fields = []
    }
  }
  return { frames }
}

/** The maximum size of a frame (RFC 9113 §4.2). */
const MOST = 16_384

/** Splits one block into a HEADERS frame and as many CONTINUATIONs as it needs or must have. */
function split(block: Buffer, { flags, pieces }: { readonly flags: number; readonly pieces: number }): Frame[] {
  const size = Math.min(MOST, Math.ceil(block.length / pieces) || 1)
  const count = Math.max(1, Math.ceil(block.length / size))
  return Array.from({ length: count }, (_, at) => {
    const last = at === count - 1 ? FLAG.END_HEADERS : 0
    const own = at === 0 ? flags & ~FLAG.END_HEADERS : 0
    return frame(at === 0 ? TYPE.HEADERS : TYPE.CONTINUATION, own | last, 1, block.subarray(at * size, (at + 1) * size))
  })
}

export function showCall({ parts }: CallCase): string {
  return parts
    .map((part) => {
      if ('field' in part) return `  ${JSON.stringify(part.field)}`
      if ('block' in part) return `  = block, flags ${part.block.flags}, on ${part.block.pieces} frames`
      const { type, flags, stream, payload } = part.frame
      return `  frame ${type}, flags ${flags}, stream ${stream}: ${payload.toString('hex')}`
    })
    .join('\n')
}
