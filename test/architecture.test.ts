import { describe, expect, it } from 'vitest'
import { crowded, isData, isNamedAlone, lineCount, MAX_FILES, MAX_LINES, namesTwice, TYPE } from './architecture/bounds.ts'
import { DOOR, INDEX, MAY_IMPORT, ONLY_IN } from './architecture/layers.ts'
import { layerOf, local, sources } from './architecture/sources.ts'

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

  it('re-export nothing, but for the doors of the package', () => {
    const reExports = /^export (\*|\{[^}]*\} from|type \{[^}]*\} from)/m
    expect(sources.filter(({ text }) => reExports.test(text)).map(({ path }) => path)).toEqual([INDEX, DOOR])
  })

  it('have no default export', () => {
    expect(sources.filter(({ text }) => /^export default /m.test(text)).map(({ path }) => path)).toEqual([])
  })

  it(`have at most ${MAX_LINES} lines, unless they are data`, () => {
    const long = sources.filter(({ path, text }) => !isData(path) && lineCount(text) > MAX_LINES)
    expect(long.map(({ path, text }) => `${path}: ${lineCount(text)}`)).toEqual([])
  })

  it('define no class but ApiError and what there is one of for every call', () => {
    expect(sources.filter(({ text }) => /^\s*(export )?(abstract )?class /m.test(text)).map(({ path }) => path)).toEqual([
      'src/errors/api-error.ts',
      'src/limits/signal.ts',
      'src/listen/times/watched-answer.ts',
      'src/routes/compat.ts',
      'src/routes/lifetime/client-signal.ts',
      'src/routes/lifetime/timed.ts',
      'src/rpc/encode/byte-writer.ts',
      'src/serve/conversation.ts',
      'src/store/store-down.ts',
      'src/tables/plan/turn.ts',
      'src/translate/answer.ts',
      'src/translate/calls.ts',
      'src/translate/many-calls.ts',
      'src/upstream/read-v1.ts',
      'src/upstream/v2/call-answer.ts',
      'src/upstream/v2/exchange.ts',
      'src/upstream/v2/flights/flight.ts',
      'src/upstream/v2/flights/passenger.ts',
      'src/upstream/v2/make-call.ts',
      'src/wire/call-signal.ts',
      'src/wire/carry.ts',
      'src/wire/grpc-head.ts',
    ])
  })

  it('are named after what they hold', () => {
    expect(sources.filter(({ path }) => /\b(utils?|helpers?|common|misc)\.ts$/.test(path)).map(({ path }) => path)).toEqual([])
  })

  it('share a name with no other, unless both mean the same thing', () => {
    expect(namesTwice(sources.filter(isNamedAlone).map(({ path }) => [path.split('/').at(-1) ?? '', path]))).toEqual([])
  })
})

describe('folders', () => {
  it.each(['src', 'mappings', 'site', 'test'])(`of %s hold at most ${MAX_FILES} files`, (root) => {
    expect(crowded(root)).toEqual([])
  })
})

describe('exported types', () => {
  it.each(['the proxy', 'the sandbox'])('of %s share a name with no other', (part) => {
    const own = sources.filter(({ layer }) => (layer === 'sandbox') === (part === 'the sandbox'))
    const types = own.flatMap(({ path, text }) => [...text.matchAll(TYPE)].map(([, name = '']) => [name, path] as const))
    expect(namesTwice(types)).toEqual([])
  })
})
