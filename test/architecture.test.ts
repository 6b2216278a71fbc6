import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What both who put things together, the server and the command line, need. */
const SERVED = ['modes', 'report', 'diff', 'explain', 'translate', 'upstream', 'tables', 'errors']

/**
 * Imports go one way (design): each layer names the layers it may import besides itself. `config` is read by whoever puts things
 * together; `explain` runs plans without sending anything.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  relay: [],
  errors: ['relay'],
  sandbox: [],
  tables: ['errors'],
  mappings: ['tables', 'errors'],
  translate: ['tables', 'errors'],
  request: ['limits', 'listen', 'upstream', 'tables', 'errors'],
  upstream: ['tables', 'errors', 'relay'],
  limits: [],
  listen: ['limits', 'relay'],
  tracing: [],
  diff: ['tables', 'errors'],
  report: ['diff', 'tables', 'errors'],
  modes: ['request', 'limits', 'diff', 'translate', 'upstream', 'tables', 'errors'],
  replay: ['request', 'explain', 'diff', 'modes', 'translate', 'upstream', 'tables', 'errors'],
  config: ['tables', 'modes'],
  explain: ['translate', 'upstream', 'tables', 'errors'],
  serve: ['request', 'modes', 'tracing', 'translate', 'upstream', 'tables', 'errors'],
  routes: [
    'serve',
    'request',
    'limits',
    'listen',
    'relay',
    'tracing',
    'explain',
    'modes',
    'report',
    'diff',
    'translate',
    'upstream',
    'tables',
    'errors',
  ],
  server: [...SERVED, 'config', 'serve', 'routes', 'listen', 'tracing', 'mappings'],
  cli: [...SERVED, 'server', 'config', 'request', 'tracing', 'replay', 'mappings', 'sandbox'],
}

/** Packages that only one layer knows. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  fastify: ['routes', 'server', 'sandbox'],
  '@fastify/reply-from': ['routes'],
  'http-proxy-3': ['upstream'],
  undici: ['upstream', 'routes', 'server', 'sandbox'],
  'prom-client': ['routes'],
  '@opentelemetry/api': ['tracing'],
  '@opentelemetry/sdk-trace-base': ['tracing'],
  jose: ['sandbox'],
}

/** What mappings/ writes its tables with, and the only module that re-exports. */
const DOOR = 'src/tables/language.ts'

const MAX_LINES = 250

interface Source {
  readonly path: string
  readonly layer: string
  readonly text: string
  readonly imports: readonly string[]
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/g

const sources: readonly Source[] = ['src', 'mappings'].flatMap((root) =>
  (readdirSync(root, { recursive: true }) as string[])
    // AssemblyScript is a language of its own, with other imports.
    .filter((name) => /[.]tsx?$/.test(name) && !name.includes('text/engine/'))
    .sort()
    .map((name) => {
      const path = join(root, name)
      const text = readFileSync(path, 'utf8')
      return { path, layer: layerOf(path), text, imports: [...text.matchAll(IMPORT)].map(([, from, dynamic]) => from ?? dynamic ?? '') }
    }),
)

/** `src/routes/app.ts` → routes; `src/server.ts` and `src/cli.ts` are layers of their own, `mappings/…` is one. */
function layerOf(path: string): string {
  const [root = '', second = ''] = path.split('/')
  return root === 'src' ? second.replace(/\.ts$/, '') : root
}

const local = (source: Source) =>
  source.imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(source.path), name)))

describe('layers', () => {
  it('are all known', () => {
    expect(sources.filter(({ layer }) => !(layer in MAY_IMPORT)).map(({ path }) => path)).toEqual([])
  })

  it.each(Object.entries(MAY_IMPORT))('%s imports only %j', (layer, allowed) => {
    const wrong = sources
      .filter((source) => source.layer === layer)
      .flatMap((source) => local(source).map((target) => ({ from: source.path, target })))
      .filter(({ target }) => layerOf(target) !== layer && !allowed.includes(layerOf(target)))
    expect(wrong).toEqual([])
  })

  it('keep the language of the tables behind one door', () => {
    const tables = sources.filter(({ layer }) => layer === 'mappings')
    expect(tables.flatMap(local).filter((target) => layerOf(target) === 'tables' && target !== DOOR)).toEqual([])
    expect(sources.filter(({ layer }) => layer !== 'mappings').filter((source) => local(source).includes(DOOR))).toEqual([])
  })

  it('know only the packages that are theirs', () => {
    const wrong = sources.flatMap(({ path, layer, imports }) =>
      imports.filter((name) => ONLY_IN[name] && !ONLY_IN[name].includes(layer)).map((name) => `${path} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('have no cycle', () => {
    const graph = new Map(sources.map((source) => [source.path, local(source)]))
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
})

describe('files', () => {
  it('import with the extension .ts or .tsx, and only files that are there', () => {
    const known = new Set(sources.map(({ path }) => path))
    expect(sources.flatMap(local).filter((target) => !known.has(target))).toEqual([])
  })

  it('re-export nothing, but for the door of the tables', () => {
    const reExports = /^export (\*|\{[^}]*\} from|type \{[^}]*\} from)/m
    expect(sources.filter(({ text }) => reExports.test(text)).map(({ path }) => path)).toEqual([DOOR])
  })

  it('have no default export', () => {
    expect(sources.filter(({ text }) => /^export default /m.test(text)).map(({ path }) => path)).toEqual([])
  })

  it(`have at most ${MAX_LINES} lines, unless they are data`, () => {
    const long = sources.filter(({ path, text }) => !isData(path) && text.split('\n').length > MAX_LINES)
    expect(long.map(({ path, text }) => `${path}: ${text.split('\n').length}`)).toEqual([])
  })

  it('define no class but ApiError and what there is one of for every call', () => {
    expect(sources.filter(({ text }) => /^\s*(export )?(abstract )?class /m.test(text)).map(({ path }) => path)).toEqual([
      'src/errors/api-error.ts',
      'src/listen/times/watched-answer.ts',
      'src/routes/lifetime/client-signal.ts',
      'src/upstream/signal.ts',
      'src/upstream/v2/exchange.ts',
      'src/upstream/v2/flights/flight.ts',
      'src/upstream/v2/flights/passenger.ts',
    ])
  })

  it('are named after what they hold', () => {
    expect(sources.filter(({ path }) => /\b(utils?|helpers?|common|misc)\.ts$/.test(path)).map(({ path }) => path)).toEqual([])
  })
})

/** Tables and fixtures may be as long as what they list. */
function isData(path: string): boolean {
  return path.startsWith('mappings/') || path.startsWith('src/sandbox/data/') || path === 'src/config/settings.ts'
}
