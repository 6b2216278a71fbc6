/** A section of the reference that a text cites, such as "facts §3.5", and the position of the citation. */
export interface Citation {
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
export function citationsIn(text: string, documents: readonly string[], own?: string): readonly Citation[] {
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
export function sectionsIn(markdown: string): ReadonlySet<string> {
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
