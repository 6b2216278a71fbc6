import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseAst } from 'vite'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

const BUNDLE = resolve('dist/bundle/cli.js')
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bundle-'))
const file = join(folder, 'crosswalk.yaml')

const JSON_BODY = { 'content-type': 'application/json' }

const print = (program: string, ...argv: string[]) =>
  execFileSync(process.execPath, [program, ...argv], { encoding: 'utf8', maxBuffer: 2 ** 26 })

/** The names of the chunks with such a text. */
const chunksWith = (part: RegExp) =>
  readdirSync(dirname(BUNDLE)).filter((name) => part.test(readFileSync(join(dirname(BUNDLE), name), 'utf8')))

/** The names of the chunks of a module; one of them may only name what the other has. */
const chunksNamed = (module: string) => readdirSync(dirname(BUNDLE)).filter((name) => name.startsWith(`${module}-`))

/** What a chunk imports at once. */
function importsOf(name: string): readonly string[] {
  const { body } = parseAst(readFileSync(join(dirname(BUNDLE), name), 'utf8'))
  return body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : []))
}

/** Starts a program with the file, asks it, and returns its exit code with the answers. */
async function served(program: string, ...flags: string[]) {
  const child = spawn(process.execPath, [program, 'serve', '--config', file, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [url, , adminUrl] = line.match(/http:\/\/[\d.]+:\d+/g) ?? []
    const { status } = await fetch(`${url}/iam/v1/groups`)
    const page = await (await fetch(`${adminUrl}/report`)).text()
    const program = page.slice(page.lastIndexOf('<script>'))
    const contract = (await (await fetch(`${adminUrl}/openapi.json`)).text()).replaceAll(url ?? '', '')
    const health = await fetch(`${url}/grpc.health.v1.Health/Check`, { method: 'POST', headers: JSON_BODY, body: '{}' })
    const calls = [health.status, await health.text()]
    child.kill('SIGTERM')
    const [code] = await ended
    return { code, status, program, contract, calls }
  }
  throw new Error('the program printed no address')
}

describe('the bundle of the image', () => {
  beforeAll(() => {
    execFileSync(process.execPath, ['scripts/bundle.js'], { stdio: 'inherit' })
    writeFileSync(file, 'upstream:\n  v2: http://127.0.0.1:1\nlisten:\n  port: 0\nadmin:\n  port: 0\nlog:\n  level: silent\n')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([['--version'], ['operations'], ['openapi'], ['config'], ['explain', 'GET /iam/v1/rolebindings']])(
    'prints what the program prints: %s',
    (...argv) => {
      const printed = print(BUNDLE, ...argv)
      expect(printed.length).toBeGreaterThan(3)
      expect(printed).toBe(print(inject('cli'), ...argv))
    },
  )

  it('serves as the program does, from a file of YAML, with the same page, contract and calls', async () => {
    const bundled = await served(BUNDLE)
    expect(bundled).toMatchObject({ code: 0, status: 503 })
    expect(bundled).toEqual(await served(inject('cli')))
  })

  it('is text of Latin characters, which V8 keeps in half of the memory', () => {
    expect(chunksWith(/[^\0-\xff]/)).toEqual([])
  })

  it('leaves the compilers of JSON Schemas apart, because no route needs them', () => {
    expect(chunksWith(/@fastify\/ajv-compiler/)).toHaveLength(1)
    expect(chunksWith(/require_ajv/)).toEqual([])
  })

  it('imports no module of Node, because Node would read all of its members', () => {
    const imported = readdirSync(dirname(BUNDLE)).flatMap(importsOf)
    expect(imported).toContain(`./${chunksNamed('fastify')[0]}`)
    expect(imported.filter(isBuiltin)).toEqual([])
  })

  it('gathers what a start loads in a dozen files', () => {
    const began = chunksNamed('serve')
    for (const name of began) began.push(...importsOf(name).flatMap((path) => (began.includes(basename(path)) ? [] : [basename(path)])))
    expect(began).toContain(chunksNamed('fastify')[0])
    expect(began.length).toBeLessThan(12)
  })

  it('serves with workers', async () => {
    expect(await served(BUNDLE, '--workers', '2')).toMatchObject({ code: 0, status: 503 })
  })
})
