import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** A section of the reference that a text cites, such as "facts §3.5", and the position of the citation. */
interface Citation {
  readonly line: number
  readonly document: string
  readonly section: string
}

/** A line break in a comment or a document, with the leading characters of the next line. */
const LINE_END = /[ \t]*\n[ \t]*(?:\*|\/\/)?[ \t]*/g

/** A word, a section, and further sections: "facts §3.5, §3.6", "semantics §2.1–2.3", "facts §4 and §5". Rule 3 of §7 is §7.3. */
const NUMBER = String.raw`\d+(?:\.\d+)*(?: +rule +\d+)?`
const CITED = new RegExp(String.raw`(?:(RFC \d+|[A-Za-z]+) +)?\(?(§${NUMBER}(?:(?:,? +and +§|, *§|[–-]§?)${NUMBER})*)`, 'g')
const SECTIONS = new RegExp(`([–-])?(${NUMBER})`, 'g')

/** Words before a section of a standard or a book, neither of which belongs to the reference. */
const ELSEWHERE = /^(?:RFC \d+|Recipes)$/

/**
 * The citations in a text, one for each section. The word in front names the document. Inside a document of the reference, a section
 * without one of the `documents` in front belongs to that document, `own`.
 */
function citationsIn(text: string, documents: readonly string[], own?: string): readonly Citation[] {
  const oneLine = text.replace(LINE_END, (end) => ' '.repeat(end.length))
  return [...oneLine.matchAll(CITED)].flatMap(({ index, 0: found, 1: word = '', 2: cited = '' }) => {
    if (ELSEWHERE.test(word)) return []
    const line = text.slice(0, index + found.indexOf('§')).split('\n').length
    const document = own === undefined || documents.includes(word) ? word : own
    return sectionsOf(cited).map((section) => ({ line, document, section }))
  })
}

/** Every section of "§2.1–2.3, §4". */
function sectionsOf(cited: string): readonly string[] {
  const sections: string[] = []
  for (const [, range, number = ''] of cited.matchAll(SECTIONS)) {
    const section = number.replace(/ +rule +/, '.')
    sections.push(...(range ? upTo(section, sections.at(-1)) : [section]))
  }
  return sections
}

/** The sections after `from` up to `to`. Returns `to` alone unless the two are siblings. */
function upTo(to: string, from = ''): readonly string[] {
  const [above, last] = split(to)
  const [aboveFrom, first] = split(from)
  if (above !== aboveFrom || last <= first) return [to]
  return Array.from({ length: last - first }, (_, step) => `${above}${first + step + 1}`)
}

function split(section: string): readonly [above: string, last: number] {
  const dot = section.lastIndexOf('.') + 1
  return [section.slice(0, dot), Number(section.slice(dot))]
}

/** The numbers of a document: those of its headings and of the list items below a heading. */
function sectionsIn(markdown: string): ReadonlySet<string> {
  const sections = new Set<string>()
  let heading = ''
  for (const line of markdown.split('\n')) {
    const [, number] = /^#{2,} (\d+(?:\.\d+)*)\.? /.exec(line) ?? []
    const [, item] = /^(\d+)\. /.exec(line) ?? []
    if (line.startsWith('#')) heading = number ?? ''
    if (number !== undefined) sections.add(number)
    if (item !== undefined && heading !== '') sections.add(`${heading}.${item}`)
  }
  return sections
}

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
