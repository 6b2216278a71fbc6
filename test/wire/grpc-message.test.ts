import { describe, expect, it } from 'vitest'
import { grpcMessage } from '../../src/grpc/wire/status.ts'
import { processorMs } from '../stage/own-time.ts'
import { SPECIAL } from './special.ts'

describe('grpc-message', () => {
  it.each([
    ['', ''],
    ['Invalid argument: name, "x" [y] {z} #1 & 50', 'Invalid argument: name, "x" [y] {z} #1 & 50'],
    ['100%', '100%25'],
    ['café', 'caf%C3%A9'],
    [' padded  ', '%20padded%20%20'],
    ['\x00\x7f', '%00%7F'],
    ['\ud800 alone', '%EF%BF%BD alone'],
    [SPECIAL.message, SPECIAL.encoded],
  ])('encodes only what it must of %j', (message, encoded) => {
    expect(grpcMessage(message)).toBe(encoded)
  })

  it('returns what clients decode to the same text', () => {
    const texts = Array.from({ length: 0x3000 }, (_, code) => `a${String.fromCharCode(code)}b`)
    expect(texts.filter((text) => decodeURIComponent(grpcMessage(text)) !== text)).toEqual([])
  })
})

it('encodes a message with spaces before its end in time that grows with its length', () => {
  const spaces = `${' '.repeat(1400)}x`.repeat(100)
  expect(processorMs(() => void grpcMessage(`a${spaces}`))).toBeLessThan(500)
  expect(grpcMessage(' a  b  ')).toBe('%20a  b%20%20')
})
