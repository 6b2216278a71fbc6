import { describe, expect, it } from 'vitest'
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
      imports.filter(({ target }) => ONLY_IN[target] && !ONLY_IN[target].includes(layer)).map(({ target }) => `${path} imports ${target}`),
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
