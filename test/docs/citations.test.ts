import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { citationsIn, sectionsIn } from './citations.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const REFERENCE = 'docs/facts/'

/** The folders of code, tests and documents that cite. */
const CITING = ['src', 'mappings', 'test', 'docs', 'docker']
const TEXT = /\.(?:ts|tsx|js|css|html|md|ya?ml|conf)$/

const read = (file: string) => readFileSync(ROOT + file, 'utf8')

/** A document may span several files: `facts-rules.md` is a part of the facts. */
const documentOf = (file: string) => /^docs\/facts\/([a-z]+)[-.\w]*\.md$/.exec(file)?.[1]

const files = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...CITING.flatMap((folder) => readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)),
].filter((file) => TEXT.test(file) && !file.startsWith('test/docs/citations'))

/** The sections of each document of the reference. */
const reference = new Map<string, Set<string>>()
for (const file of files) {
  const document = documentOf(file)
  if (document === undefined) continue
  const sections = reference.get(document) ?? new Set()
  reference.set(document, new Set([...sections, ...sectionsIn(read(file))]))
}

/** Every unresolved citation of a text, as a sentence with its position. */
function unresolved(file: string, text: string): readonly string[] {
  return citationsIn(text, [...reference.keys()], documentOf(file)).flatMap(({ line, document, section }) => {
    if (reference.get(document)?.has(section)) return []
    const why = reference.has(document) ? 'has no such section' : `is no document of ${REFERENCE}`
    return [`${file}:${line}: "${document} §${section}" is cited, but ${document || 'nothing'} ${why}`]
  })
}

describe('citations of the reference', () => {
  it('are found in lists, in ranges and across the lines of a comment', () => {
    const sections = (text: string) => citationsIn(text, []).map(({ line, document, section }) => `${line} ${document} ${section}`)
    expect(sections('(facts §3.5, §3.6)')).toEqual(['1 facts 3.5', '1 facts 3.6'])
    expect(sections('facts §14 and §15')).toEqual(['1 facts 14', '1 facts 15'])
    expect(sections('(semantics §2.1–2.3; facts §4)')).toEqual(['1 semantics 2.1', '1 semantics 2.2', '1 semantics 2.3', '1 facts 4'])
    expect(sections('/**\n * It is so (facts\n * §16.3,\n * §16.4).\n */')).toEqual(['3 facts 16.3', '3 facts 16.4'])
    expect(sections('RFC 9110 §7.6.1, §5.3 and Numerical Recipes §6.1')).toEqual([])
  })

  it('resolve to headings and to items of numbered lists', () => {
    expect([...sectionsIn('## 1. One\n1. a\n2. b\n### 1.5 Half\n1. c\n# Two\n1. d')]).toEqual(['1', '1.1', '1.2', '1.5', '1.5.1'])
  })

  it('are reported with file and line if they do not resolve', () => {
    expect(unresolved('a.ts', `\nfacts §${99}`)).toEqual(['a.ts:2: "facts §99" is cited, but facts has no such section'])
    expect(unresolved('a.ts', `legends §${1}`)).toEqual(['a.ts:1: "legends §1" is cited, but legends is no document of docs/facts/'])
  })

  it('resolve to documents that the index lists', () => {
    const index = read(`${REFERENCE}README.md`)
    const missing = readdirSync(ROOT + REFERENCE).filter((name) => name !== 'README.md' && !index.includes(`](${name})`))
    expect(missing).toEqual([])
  })

  it('all resolve', () => {
    expect(reference.size).toBeGreaterThan(0)
    expect(files.flatMap((file) => unresolved(file, read(file)))).toEqual([])
  })
})
