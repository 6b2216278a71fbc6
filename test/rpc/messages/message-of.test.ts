import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { messageOf } from '../../../src/grpc/messages/message-of.ts'
import type { Answer } from '../../../src/serve/answer.ts'
import { v1Method } from './messages.ts'

const list = v1Method('iam.Groups/List')
const limits = { messageBytes: 1_000_000 }
const rows = Array.from({ length: 3 }, (_, at) => ({ id: `id${at}`, name: `naïve "[${at}]`, description: '\\', kind: 'ORG_KIND_CUSTOMER' }))

async function* streamOf(pieces: readonly Uint8Array[]) {
  for (const piece of pieces) yield piece
}

function cut(text: string, size: number): readonly Uint8Array[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

const own = (batches: readonly (readonly unknown[])[], end = ']}') => [
  Buffer.from('{"items":['),
  ...batches.map((batch, at) => Buffer.from((at > 0 ? ',' : '') + batch.map((row) => JSON.stringify(row)).join(','))),
  Buffer.from(end),
]

const answer = (body: object): Answer => ({ status: 200, headers: {}, ...body }) as Answer

const written = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('latin1')

async function hexOf(given: Answer, method = list): Promise<string> {
  return Buffer.concat(await messageOf(method, given, 'proto', limits)).toString('hex')
}

const library = (json: unknown, { output } = list) =>
  Buffer.from(toBinary(output, fromJson(output, json as JsonValue, { ignoreUnknownFields: true }))).toString('hex')

const wholeText = JSON.stringify({ items: rows })

it.each<[string, Answer]>([
  ['a value', answer({ body: { items: rows } })],
  ['a short text', answer({ written: written({ items: rows }) })],
  ['a short text with spaces', answer({ written: Buffer.from(JSON.stringify({ items: rows }, null, 1)).toString('latin1') })],
  ['a short text with another list', answer({ written: written({ items: rows, bundles: [{}] }) })],
  ['pieces of whole rows', answer({ written: own([rows.slice(0, 1), rows.slice(1)]) })],
  ['a stream of whole rows', answer({ stream: streamOf(own([rows.slice(0, 2), rows.slice(2)])) })],
  ['a stream that is cut anywhere', answer({ stream: streamOf(cut(wholeText, 7)) })],
  ['unknown members', answer({ body: { items: rows.map((row) => ({ ...row, colour: 'red' })), more: 1 } })],
])('makes one message from %s', async (_, given) => {
  expect(await hexOf(given)).toBe(library({ items: rows }))
})

it('writes the members around a list in the order of their numbers', async () => {
  const advisories = v1Method('vulnerabilities.v1.Advisories/List')
  const items = [{ id: 'a' }, { id: 'b' }]
  const given = answer({ written: own([items], '],"nextPageToken":"t","id":"i","totalCount":2}') })
  expect(await hexOf(given, advisories)).toBe(library({ items, id: 'i', nextPageToken: 't', totalCount: 2 }, advisories))
})

it('makes no bytes of an empty answer', async () => {
  const remove = v1Method('iam.Groups/Delete')
  expect(await hexOf(answer({ body: {} }), remove)).toBe('')
  expect(await hexOf(answer({ written: '{"items":[]}' }))).toBe('')
  expect(await hexOf(answer({ stream: streamOf(own([])) }))).toBe('')
})

it('reads a long foreign stream row by row, wherever it is cut', async () => {
  const many = Array.from({ length: 3000 }, (_, at) => ({ ...rows[at % 3], id: `${at}`, resourceLimits: { '}]"': at } }))
  const text = JSON.stringify({ items: many, other: { items: [1] } }, null, 1)
  for (const size of [1000, 65_537, 299_999]) {
    expect(await hexOf(answer({ stream: streamOf(cut(text, size)) }))).toBe(library({ items: many }))
  }
})

it('writes the names and forms of protojson for a client that wants JSON', async () => {
  const json = async (given: Answer) => JSON.parse(Buffer.concat(await messageOf(list, given, 'json', limits)).toString()) as unknown
  const items = rows.map((row) => ({ ...row, verified: false, resource_limits: { a: 1 }, colour: 'red' }))
  const wanted = { items: rows.map((row) => ({ ...row, resourceLimits: { a: 1 } })) }
  expect(await json(answer({ body: { items } }))).toEqual(wanted)
  expect(await json(answer({ written: own([items.slice(0, 2), items.slice(2)], '],"x":1}') }))).toEqual(wanted)
  expect(await json(answer({ written: own([]) }))).toEqual({})
})

it.each<[string, Answer]>([
  ['no JSON', answer({ written: '<html>' })],
  ['a list', answer({ body: [] })],
  ['a truncated list', answer({ stream: streamOf(own([rows], '')) })],
  ['a member of another type', answer({ body: { items: [{ name: 1 }] } })],
  ['a time that is none', answer({ body: { items: [{ name: {} }] } })],
])('refuses %s as an answer', async (_, given) => {
  const refusal = { code: 'INTERNAL', message: 'the answer is not a chainguard.platform.iam.GroupList' }
  const message = async () => messageOf(list, given, 'proto', limits)
  await expect(message()).rejects.toMatchObject(refusal)
})

it.each<[string, (endless: AsyncIterable<Uint8Array>) => Answer]>([
  ['rows', (stream) => answer({ stream })],
  ['pieces of one row', (stream) => answer({ stream: skipFirst(stream) })],
])('stops a stream whose %s are more than the limit', async (_, given) => {
  let count = 0
  let isOver = false
  async function* endless() {
    try {
      yield Buffer.from('{"items":[')
      for (;;) {
        count += 1
        yield Buffer.from(JSON.stringify(rows[0]))
      }
    } finally {
      isOver = true
    }
  }
  await expect(messageOf(list, given(endless()), 'proto', { messageBytes: 2000 })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
  expect([isOver, count < 100]).toEqual([true, true])
})

async function* skipFirst(stream: AsyncIterable<Uint8Array>) {
  let isFirst = true
  for await (const piece of stream) {
    if (!isFirst) yield piece
    isFirst = false
  }
}

it('passes on what a stream breaks with', async () => {
  async function* broken() {
    yield Buffer.from('{"items":[')
    throw new RangeError('broken')
  }
  await expect(messageOf(list, answer({ stream: broken() }), 'proto', limits)).rejects.toThrow(RangeError)
})
