import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDocument } from '../../src/tools/contract.ts'
import { draftTables } from '../../src/tools/draft.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-draft-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function written(name: string, document: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document))
  return path
}

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const ok = (schema: unknown) => ({ responses: { 200: { description: '', ...json(schema) } } })
const info = { title: 'Odd', version: '1' }

/** A document with one read, whose answer has these members. */
function documentOf(properties: object) {
  const paths = { '/v1/a': { get: ok({ $ref: '#/components/schemas/A' }) } }
  return { openapi: '3.0.3', info, paths, components: { schemas: { A: { type: 'object', properties } } } }
}

/** Drafts a table of a document and itself. */
async function draftOf(name: string, document: unknown) {
  const { contract, problems } = await readDocument(written(name, document))
  return { ...draftTables(contract, contract, 'odd'), problems }
}

describe('a document', () => {
  it('may hold cycles, members without a type, and types without a word', async () => {
    const node = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        child: { $ref: '#/components/schemas/Node' },
        loose: {},
        rate: { type: 'number' },
        either: { oneOf: [{ type: 'string' }] },
      },
    }
    const paths = { '/v1/nodes': { get: ok({ $ref: '#/components/schemas/Node' }) } }
    const { decisions } = await draftOf('odd.json', { openapi: '3.0.3', info, paths, components: { schemas: { Node: node } } })
    expect(decisions).toEqual([
      "Node.child: v2's child cannot be compared: v1's Node holds itself",
      "Node.loose: v2's loose cannot be compared: v1's has no type",
      "Node.rate: v2's rate cannot be compared: v1's is a number",
      "Node.either: v2's either cannot be compared: v1's is a oneOf",
      ...['child', 'loose', 'rate', 'either'].map((name) => `v2 Node.${name}: no row shows it`),
    ])
  })

  it('says where a reference leads nowhere', async () => {
    const { problems, text } = await draftOf('nowhere.json', documentOf({ a: { $ref: '#/nowhere' }, b: { type: 'string' } }))
    expect(problems.join()).toMatch(/nowhere/)
    expect(text).toContain('leads nowhere')
  })

  it('may be spread over files, and be YAML', async () => {
    written('pet.yaml', 'type: object\nproperties:\n  name: { type: string }\n')
    const root =
      "openapi: 3.1.0\ninfo: { title: a, version: '1' }\npaths:\n  /v1/pets:\n    get:\n      responses:\n        '200': { description: '', content: { application/json: { schema: { $ref: ./pet.yaml } } } }\n"
    expect((await draftOf('root.yaml', root)).text).toContain("name: optional(text('name'))")
  })

  it('may be of Swagger 2', async () => {
    const parameters = [
      { in: 'body', name: 'body', schema: { $ref: '#/definitions/Pet' } },
      { in: 'query', name: 'dry', type: 'boolean' },
    ]
    const post = { parameters, responses: { 200: { description: '', schema: { $ref: '#/definitions/Pet' } } } }
    const definitions = { Pet: { type: 'object', properties: { name: { type: 'string' } } } }
    const { text } = await draftOf('swagger.json', { swagger: '2.0', info, paths: { '/v1/pets': { post } }, definitions })
    expect(text).toMatch(/params: \{ "dry": flagParam\('dry'\) \},\s*request: pet,\s*answer: pet,/)
  })

  describe('reads only what it was given', () => {
    const SCHEMA = '{"type":"object","properties":{"hidden":{"type":"string"}}}'
    let outside: string
    let server: Server
    const asked: string[] = []

    beforeAll(async () => {
      outside = mkdtempSync(join(tmpdir(), 'crosswalk-outside-'))
      writeFileSync(join(outside, 'secret.json'), SCHEMA)
      symlinkSync(join(outside, 'secret.json'), join(folder, 'link.json'))
      symlinkSync(outside, join(folder, 'linked'))
      server = createServer((request, response) => {
        asked.push(request.url ?? '')
        response.setHeader('content-type', 'application/json').end(SCHEMA)
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
    })

    afterAll(() => {
      rmSync(outside, { recursive: true })
      server.close()
    })

    const refs = (): Readonly<Record<string, string>> => ({
      host: `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest/meta-data`,
      scheme: `HTTP://127.0.0.1:${(server.address() as AddressInfo).port}/upper`,
      absolute: join(outside, 'secret.json'),
      above: `../${basename(outside)}/secret.json`,
      folder: `linked/secret.json`,
      link: 'link.json',
      file: `file://${join(outside, 'secret.json')}`,
      device: '/dev/zero',
      fragment: `${join(outside, 'secret.json')}#/properties/hidden`,
    })

    const withRef = (ref: string) => ({ openapi: '3.0.3', info, paths: { '/v1/pets': { get: ok({ $ref: ref }) } } })

    it.each(['host', 'scheme', 'absolute', 'above', 'folder', 'link', 'file', 'device', 'fragment'])('not %s', async (name) => {
      asked.length = 0
      const { text, problems } = await draftOf('remote.json', withRef(refs()[name] ?? ''))
      expect([text.includes("'hidden'"), asked]).toEqual([false, []])
      expect(problems.join()).toMatch(/is not read: it is no file in the folder of the document/)
    })

    it('or more, if somebody asks for it', async () => {
      const path = written('remote.json', withRef(refs().above ?? ''))
      const { contract, problems } = await readDocument(path, { mayLeave: true })
      expect([JSON.stringify(contract).includes('hidden'), problems]).toEqual([true, []])
    })
  })

  it.each([
    ['absent.json', undefined, /a document cannot be read: there is no such file or folder \(.*absent\.json\)$/],
    ['text.json', 'no: [document', /text\.json is no OpenAPI document/],
    ['list.json', '[]', /list\.json/],
    ['none.json', { openapi: '3.0.3', info, paths: {} }, /the document of v1 has no operation under paths/],
  ])('is refused with a sentence: %s', async (name, document, sentence) => {
    if (document !== undefined) written(name, document)
    const drafted = readDocument(join(folder, name)).then(({ contract }) => draftTables(contract, contract, 'odd'))
    await expect(drafted).rejects.toThrow(sentence)
  })
})

describe('a guess', () => {
  const textOf = async (v1: object, v2: object) => {
    const read = async (name: string, properties: object) =>
      (await readDocument(written(name, documentOf({ same: { type: 'string' }, ...properties })))).contract
    const { text } = draftTables(await read('one.json', v1), await read('other.json', v2), 'odd')
    expect(text).toContain("same: optional(text('same'))")
    return text
  }

  it('is not made between two candidates', async () => {
    const time = { type: 'string', format: 'date-time' }
    expect(await textOf({ createdAt: time }, { first_create_time: time, last_create_time: time })).not.toContain("time('")
  })

  it('is not made for a text whose name is only similar', async () => {
    expect(await textOf({ ownerName: { type: 'string' } }, { name: { type: 'string' } })).not.toContain("text('name')")
  })

  it('is made for the only time with a name like it', async () => {
    const time = { type: 'string', format: 'date-time' }
    expect(await textOf({ createdAt: time }, { creation_time: time, updateTime: time })).toContain(
      "createdAt: optional(time('creation_time'))",
    )
  })

  it('is not made where the values of an enum differ', async () => {
    const state = (values: string[]) => ({ state: { type: 'string', enum: values } })
    expect(await textOf(state(['NONE', 'UP']), state(['NONE', 'DOWN']))).toContain("TO DECIDE: v2\\'s state has other values")
    expect(await textOf(state(['UP', 'DOWN']), state(['DOWN', 'UP']))).toContain("TO DECIDE: v2\\'s state has other values")
    expect(await textOf(state(['UP', 'DOWN', 'UP']), state(['UP', 'DOWN', 'DOWN']))).toContain('choice(')
  })
})
