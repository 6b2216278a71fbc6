import { describe, expect, it } from 'vitest'
import { local, roomOf, sources } from './stage/sources.ts'

/** What each room may import besides itself: imports go one way, types included. `docs/why/architecture.md` shows the rooms. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  heads: [],
  errors: ['heads'],
  files: ['errors'],
  tables: ['errors'],
  mappings: ['tables', 'errors'],
  serve: ['tables', 'errors', 'heads'],
  grpc: ['serve', 'tables', 'errors', 'heads'],
  migrate: ['serve', 'tables', 'errors', 'files'],
  fleet: ['migrate', 'tables', 'errors', 'files'],
  tools: ['grpc', 'migrate', 'serve', 'tables', 'errors', 'files', 'mappings'],
  admin: ['tools', 'fleet', 'migrate', 'serve', 'tables', 'errors'],
  app: ['admin', 'tools', 'fleet', 'migrate', 'grpc', 'serve', 'tables', 'errors', 'files', 'mappings', 'sandbox'],
  sandbox: [],
  index: ['app', 'migrate'],
  cli: ['app', 'files'],
  site: ['app', 'tools', 'tables', 'errors', 'mappings'],
}

/** The only folder of `app` that knows the sandbox. */
const COMMANDS = 'src/app/cli/'

/** Packages that only some rooms know. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  fastify: ['serve', 'grpc', 'admin', 'app', 'sandbox'],
  '@fastify/reply-from': ['serve'],
  'http-proxy-3': ['serve'],
  undici: ['serve', 'grpc', 'admin', 'app', 'sandbox'],
  'prom-client': ['admin'],
  '@opentelemetry/api': ['serve'],
  '@opentelemetry/sdk-trace-base': ['serve'],
  '@opentelemetry/sdk-metrics': ['serve'],
  jose: ['admin', 'sandbox'],
  '@bufbuild/protobuf': ['grpc'],
  protobufjs: ['sandbox'],
  ioredis: ['fleet'],
  'markdown-it': ['site'],
  'github-slugger': ['site'],
  minisearch: ['site'],
  '@redocly/openapi-core': ['tools'],
  'jsonc-parser': ['app'],
  yaml: ['app'],
}

/** What mappings/ writes its tables with. */
const DOOR = 'src/tables/language.ts'

/** What programs import by the name of the package. Only it and the door of the tables re-export. */
const INDEX = 'src/index.ts'

describe('rooms', () => {
  it('are all known', () => {
    expect(sources.filter(({ room }) => !(room in MAY_IMPORT)).map(({ path }) => path)).toEqual([])
  })

  it.each(Object.entries(MAY_IMPORT))('%s imports only %j', (room, allowed) => {
    const wrong = sources
      .filter((source) => source.room === room)
      .flatMap((source) => local(source).map((target) => ({ from: source.path, target })))
      .filter(({ target }) => roomOf(target) !== room && !allowed.includes(roomOf(target)))
    expect(wrong).toEqual([])
  })

  it('keep the language of the tables behind one door', () => {
    const tables = sources.filter(({ room }) => room === 'mappings')
    expect(tables.flatMap(local).filter((target) => roomOf(target) === 'tables' && target !== DOOR)).toEqual([])
    expect(sources.filter(({ room }) => room !== 'mappings').filter((source) => local(source).includes(DOOR))).toEqual([])
  })

  it('let only the commands know the sandbox', () => {
    const knowing = sources.filter(
      ({ room, imports }) => room !== 'sandbox' && imports.some(({ target }) => target.startsWith('src/sandbox/')),
    )
    expect(knowing.map(({ path }) => path).filter((path) => !path.startsWith(COMMANDS))).toEqual([])
  })

  it('know only the packages that are theirs', () => {
    const wrong = sources.flatMap(({ path, room, imports }) =>
      imports.filter(({ target }) => ONLY_IN[target] && !ONLY_IN[target].includes(room)).map(({ target }) => `${path} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('files', () => {
  it('import with the extension .ts or .tsx, and only files that are there', () => {
    const known = new Set(sources.map(({ path }) => path))
    expect(sources.flatMap(local).filter((target) => !known.has(target))).toEqual([])
  })

  it('have no cycle of values', () => {
    const values = ({ imports }: (typeof sources)[number]) => imports.filter(({ isLocal, isType, isLazy }) => isLocal && !isType && !isLazy)
    const graph = new Map(sources.map((source) => [source.path, values(source).map(({ target }) => target)]))
    const done = new Set<string>()
    const cycle = (path: string, above: readonly string[]): readonly string[] | undefined => {
      if (above.includes(path)) return [...above, path]
      if (done.has(path)) return undefined
      for (const next of graph.get(path) ?? []) {
        const found = cycle(next, [...above, path])
        if (found) return found
      }
      done.add(path)
      return undefined
    }
    expect([...graph.keys()].map((path) => cycle(path, [])).filter(Boolean)).toEqual([])
  })

  it('re-export nothing, but for the doors of the package', () => {
    const reExports = /^export (\*|\{[^}]*\} from|type \{[^}]*\} from)/m
    expect(sources.filter(({ text }) => reExports.test(text)).map(({ path }) => path)).toEqual([INDEX, DOOR])
  })

  it('have no default export', () => {
    expect(sources.filter(({ text }) => /^export default /m.test(text)).map(({ path }) => path)).toEqual([])
  })
})
