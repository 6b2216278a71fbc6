import { CHUNKED, chunk, LAST_CHUNK, lengthOf, type Make, type Shape } from './make.ts'

/** Spellings of `transfer-encoding: chunked` that some servers accept and others do not. */
const CODINGS: readonly string[] = [
  CHUNKED,
  'Transfer-Encoding: cHuNkEd',
  'transfer-encoding: xchunked',
  'transfer-encoding : chunked',
  'transfer-encoding\t: chunked',
  'transfer-encoding:\tchunked',
  'transfer-encoding: \x0bchunked',
  'transfer-encoding: chunked\x00',
  'transfer-encoding: chu\x00nked',
  'transfer-encoding: chunked\xff',
  'transfer-encoding: "chunked"',
  'transfer-encoding: chunked;q=1',
  'transfer-encoding: chunked,',
  'transfer-encoding: ,chunked',
  'transfer-encoding: chunked, chunked',
  'transfer-encoding: identity, chunked',
  'transfer-encoding: chunked, identity',
  'transfer-encoding: gzip, chunked',
  'transfer-encoding: identity',
  'transfer-encoding:',
  'transfer-encoding: chunked\r\ntransfer-encoding: x',
  'transfer-encoding: x\r\ntransfer-encoding: chunked',
  'transfer-encoding:\r\n chunked',
  'x-first: a\ntransfer-encoding: chunked',
  'x-first: a\rtransfer-encoding: chunked',
  'transfer_encoding: chunked',
  'te: chunked',
]

const shown = (line: string) => JSON.stringify(line).slice(1, -1)
const ordered = ({ pick }: Make, lines: readonly [string, string]) => pick([lines, [lines[1], lines[0]]])

/** The length covers everything; the chunks end before the hidden request. */
function lengthThenChunks(coding: string, make: Make): string {
  const body = `${LAST_CHUNK}${make.hidden}`
  return make.head('POST', ordered(make, [lengthOf(body), coding])) + body
}

/** The chunks cover everything; the length ends before the hidden request. */
function chunksThenLength(coding: string, make: Make): string {
  const [size] = chunk(make.hidden).split('\r\n')
  return make.head('POST', ordered(make, [`content-length: ${(size ?? '').length + 2}`, coding])) + chunk(make.hidden) + LAST_CHUNK
}

/** Both framings at once, and each spelling of the second alone. */
export const codingShapes: readonly Shape[] = CODINGS.flatMap((coding): Shape[] => [
  { name: `a length and "${shown(coding)}", which ends first`, bytes: (make) => lengthThenChunks(coding, make) },
  { name: `"${shown(coding)}" and a length, which ends first`, bytes: (make) => chunksThenLength(coding, make) },
  {
    name: `"${shown(coding)}" alone`,
    bytes: (make) => make.head(make.pick(['POST', 'OPTIONS', 'GET', 'DELETE']), [coding]) + chunk(make.hidden) + LAST_CHUNK,
  },
])
