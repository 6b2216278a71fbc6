import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseAst } from 'vite'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { startProxy } from '../../stage/proxy.ts'
import { runCommand } from '../support.ts'
import { linesUntil, start } from './started.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bundle-'))
const file = join(folder, 'crosswalk.yaml')
afterAll(() => rmSync(folder, { recursive: true }))

const V2 = 'http://127.0.0.1:1'
const JSON_BODY = { 'content-type': 'application/json' }

const pathOf = (chunk: string) => join(dirname(inject('cli')), chunk)
const chunks = () => readdirSync(dirname(inject('cli'))).filter((name) => name.endsWith('.js'))

/** The names of the chunks with such a text. */
const chunksWith = (part: RegExp) => chunks().filter((name) => part.test(readFileSync(pathOf(name), 'utf8')))

/** The names of the chunks of a module; one of them may only name what the other has. */
const chunksNamed = (module: string) => chunks().filter((name) => name.startsWith(`${module}-`))

/** What a chunk imports at once. */
function importsOf(name: string): readonly string[] {
  const { body } = parseAst(readFileSync(pathOf(name), 'utf8'))
  return body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : []))
}

/** Returns the chunks that Node loads at once with these, which are among them. */
function loadedWith(...names: string[]): readonly string[] {
  const loaded = [...names]
  for (const name of loaded) loaded.push(...importsOf(name).flatMap((path) => (loaded.includes(basename(path)) ? [] : [basename(path)])))
  return loaded
}

/** Asks a proxy for what it finds in files: an answer, the program of its page, its contract, and a call of gRPC. */
async function asked({ url = '', adminUrl = '' }) {
  const { status } = await fetch(`${url}/iam/v1/groups`)
  const page = await (await fetch(`${adminUrl}/report`)).text()
  const program = page.slice(page.lastIndexOf('<script>'))
  const contract = (await (await fetch(`${adminUrl}/openapi.json`)).text()).replaceAll(url, '')
  const health = await fetch(`${url}/grpc.health.v1.Health/Check`, { method: 'POST', headers: JSON_BODY, body: '{}' })
  return { status, program, contract, health: [health.status, await health.text()] }
}

/** Starts the program with the file of settings, asks it, and returns the answers when it has ended. */
async function served(...flags: string[]) {
  const child = spawn(process.execPath, [inject('cli'), 'serve', '--config', file, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    const [url, , adminUrl] = line.match(/http:\/\/[\d.]+:\d+/g) ?? []
    const answers = await asked({ ...(url && { url }), ...(adminUrl && { adminUrl }) })
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    return answers
  }
  throw new Error('the program printed no address')
}

describe('the program is a bundle, which', () => {
  beforeAll(() => {
    writeFileSync(file, `upstream:\n  v2: ${V2}\nlisten:\n  port: 0\nadmin:\n  port: 0\nlog:\n  level: silent\n`)
  })

  it('has every command', async () => {
    const { out } = await runCommand(['help'])
    expect(out.split('\n').length).toBeGreaterThan(20)
    expect(await linesUntil(start('help'), () => false)).toEqual(out.split('\n'))
  })

  it.each([[[]], [['--workers', '2']]])('serves as its sources do, with the flags %j', async (flags) => {
    const proxy = await startProxy({ 'upstream.v2': V2 })
    const expected = await asked(proxy)
    await proxy.close()
    expect(expected.status).toBe(503)
    expect(await served(...flags)).toEqual(expected)
  })

  it('is text of Latin characters, which V8 keeps in half of the memory', () => {
    expect(chunksWith(/[^\0-\xff]/)).toEqual([])
  })

  it('leaves the compilers of JSON Schemas apart, because no route needs them', () => {
    expect(chunksWith(/@fastify\/ajv-compiler/)).toHaveLength(1)
    expect(chunksWith(/require_ajv/)).toEqual([])
  })

  it('imports no module of Node, because Node would read all of its members', () => {
    const imported = chunks().flatMap(importsOf)
    expect(imported).toContain(`./${chunksNamed('fastify')[0]}`)
    expect(imported.filter(isBuiltin)).toEqual([])
  })

  it('gathers what a start loads in a dozen files', () => {
    expect(loadedWith(...chunksNamed('serve'))).toContain(chunksNamed('fastify')[0])
    expect(loadedWith(...chunksNamed('serve')).length).toBeLessThan(12)
    expect(loadedWith('worker-main.js')).toContain(chunksNamed('fastify')[0])
    expect(loadedWith('worker-main.js').length).toBeLessThan(14)
  })
})

it('may be executed, also after a build that npm does not know of', () => {
  expect((statSync(inject('cli')).mode & 0o777).toString(8)).toBe('755')
})
