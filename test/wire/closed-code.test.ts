import { constants } from 'node:http2'
import { expect, it } from 'vitest'
import { closedCode } from '../../src/grpc/wire/status.ts'

const ok = { 'grpc-status': '0' }

it.each([
  ['the status of trailers', { sentHeaders: {}, sentTrailers: { 'grpc-status': '5' } }, 5],
  ['the status of a head without messages', { sentHeaders: { 'grpc-status': '7' } }, 7],
  ['a cancel', { sentHeaders: {}, sentTrailers: ok, rstCode: constants.NGHTTP2_CANCEL }, 1],
  ['a refused stream', { rstCode: constants.NGHTTP2_REFUSED_STREAM }, 14],
  ['another reset', { sentHeaders: ok, rstCode: constants.NGHTTP2_PROTOCOL_ERROR }, 13],
  ['an end without a status, as a client that reads too slowly gets it', { sentHeaders: {} }, 2],
])('reads %s', (_, stream, code) => {
  expect(closedCode({ rstCode: 0, ...stream })).toBe(code)
})
