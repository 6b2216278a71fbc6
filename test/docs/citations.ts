/** A section of the reference that a text cites, such as "facts §3.5", and where it does. */
export interface Citation {
  readonly line: number
  readonly document: string
  readonly section: string
}

/** The end of a line and what begins the next one, in a comment or in a document. */
const LINE_END = /[ \t]*\n[ \t]*(?:\*|\/\/)?[ \t]*/g

/** A word, a section, and further sections: "facts §3.5, §3.6", "semantics §2.1–2.3", "facts §4 and §5". Rule 3 of §7 is §7.3. */
const NUMBER = String.raw`\d+(?:\.\d+)*(?: +rule +\d+)?`
const CITED = new RegExp(String.raw`(?:(RFC \d+|[A-Za-z]+) +)?\(?(§${NUMBER}(?:(?:,? +and +§|, *§|[–-]§?)${NUMBER})*)`, 'g')
const SECTIONS = new RegExp(`([–-])?(${NUMBER})`, 'g')

/** What precedes a section of a standard or a book: those are no documents of the reference. */
const ELSEWHERE = /^(?:RFC \d+|Recipes)$/

/**
 * The citations in a text, one for each section. The document is the word in front. Inside a document of the reference, a section without
 * one of the `documents` in front is a section of its own document, `own`.
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

/** The sections behind `from` up to `to`; `to` alone where the two do not lie side by side. */
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

/** The numbers of a document: those of its headings, and of the items in the numbered list below a heading. */
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
