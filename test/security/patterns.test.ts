import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFull } from '../sample.ts'
import { type Pattern, patternsBelow, patternsOf } from './patterns/found.ts'
import { type Growth, growthOf } from './patterns/growth.ts'
import { hostileTexts, lettersOf } from './patterns/hostile.ts'
import { parsePattern, programOf } from './patterns/program.ts'
import { search } from './patterns/search.ts'

const { known, made } = patternsBelow(['src', 'mappings'])

/** Regular expressions made from texts of other places, and why no client can make them slow. */
const MADE: Readonly<Record<string, string>> = {
  "src/tools/guide-request.ts: new RegExp(`^${parts.join('.+')}$`)":
    'the parts are those of an http rule, and the path is that of a call in a guide: the tables made both',
  'src/grpc/messages/request-of.ts: new RegExp(`^${pattern}$`)':
    'explain reads with it the path of a call that the tables made of a request that its user typed; no proxy runs it',
  'src/grpc/messages/message-of.ts: new RegExp(`"${list}"\\\\s*:\\\\s*$`)': 'it searches 99 letters, and the name is that of a field',
  'src/fleet/store/redis.ts: new RegExp(`(?:${LARGE}|${FOREIGN} (?<found>\\\\S+) (?<wanted>\\\\S+)) (?<key>.+)$`)':
    'it reads the refusal of a script of ours: a store says it, and no client; the parts are separated by spaces, which the first two lack',
  'src/sandbox/auth/tokens.ts: new RegExp(`^(?:${pattern})$`)':
    'the sandbox runs on the machine of whoever tries Crosswalk: the patterns of identities are their own, and no proxy runs them',
  'src/sandbox/v2/iam/identities.ts: new RegExp(pattern)': 'only made, to see whether it is one; never run',
}

/** Milliseconds. Steps are counted, not time: a busy machine only needs longer for them. */
const PATIENCE = 60_000

/** Every third hostile text of a pattern of the project is tried, unless CROSSWALK_SAMPLE is `full`. */
const EACH = isFull ? 1 : 3

/** Some patterns are at several places. */
const growths = new Map<string, Growth | undefined>()
const growthAt = ({ literal }: Pattern): Growth | undefined => {
  if (!growths.has(literal)) growths.set(literal, growthOf(literal, EACH))
  return growths.get(literal)
}

describe('the work of a pattern grows only with the text', () => {
  it.each(known)(
    '$file:$line $literal',
    (pattern) => {
      expect(growthAt(pattern)).toBeUndefined()
    },
    PATIENCE,
  )

  it('names every pattern that is made at run time', () => {
    expect(made.map(({ file, code }) => `${file}: ${code}`).sort()).toEqual(Object.keys(MADE).sort())
  })
})

/** Patterns with quadratic work or worse; the first was once in this project. */
const SLOW = [
  /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g,
  /\/+$/,
  /0+$/,
  /%.*$/,
  /\{[^}]*\}/g,
  /<\s*\/?\s*script\b/i,
  /<[^>]*\son[a-z]+\s*=/,
  /^(?:a+)+$/,
  /^(?:a|aa)+$/,
  /^(?:a|a)*$/,
  /^(?:\w+\s?)*$/,
  /^\s*(?:.*,)*$/,
  /x*x*y/,
  /\d+\d+\./,
  /"(?:[^"\\]|\\.)*"/,
  /(?<=\(.*)x/,
  /,(?=.*;)/g,
  /^[\w.]+@[\w.]+\.[\w.]+\.com$/,
]

/** Harmless patterns that look similar. */
const QUICK = [
  /(?<!\/)\/+$/,
  /\{[^{}]*\}/g,
  /^(?:a+b)+$/,
  /^"(?:[^"\\]|\\.)*"$/,
  /^[\S ]{0,512}$/,
  /^(?=.{16,512}$)\w+=*$/,
  /(?:ab|cd)*?e?/g,
  /[ \t]*(\w+)=("[^"]*"|\w*)[ \t]*([;,]|$)/y,
]

describe('the check', () => {
  it.each(SLOW.map(String))('finds %s', (literal) => expect(growthOf(literal)).toBeDefined())
  it.each(QUICK.map(String))('accepts %s', (literal) => expect(growthOf(literal)).toBeUndefined())

  it('sees every form of a pattern', () => {
    const text = 'const a: RegExp = /a\\/[/]b/g; new RegExp("c+", "i"); RegExp(`d`); x.match("e"); router.match("GET", y); new RegExp(z)'
    const found = patternsOf('a.ts', text)
    expect(found.known.map(({ literal }) => literal)).toEqual(['/a\\/[/]b/g', '/c+/i', '/d/', '/e/'])
    expect(found.made).toEqual([{ file: 'a.ts', code: 'new RegExp(z)' }])
  })
})

/** Further forms of patterns, so that the matcher can read them when the project uses them. */
const MORE = [/(a|ab)(c|bcd)?d*/, /(?:a?){3}b*?/g, /(?:a*)*b/, /(?=a.)(?!ab)../g, /(?<!a)b|(?<=ab+)c/, /^a|b$/gm, /a{2,4}?b/s]

describe('the matcher finds what RegExp finds', () => {
  const literals = new Set([...known.map(({ literal }) => literal), ...[...SLOW, ...QUICK, ...MORE].map(String)])

  it.each([...literals])('%s', (literal) => {
    const pattern = parsePattern(literal)
    const program = programOf(pattern)
    const { source, flags } = toRegExp(literal)
    const global = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
    const words = hostileTexts(pattern).map(({ pump }) => pump)
    const texts = fc.array(fc.constantFrom(...words, ...lettersOf(pattern)), { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, (text) => {
        const { matches } = search(program, text, pattern.ast.flags.sticky)
        expect(matches).toEqual([...text.matchAll(global)].map(({ index, 0: found }) => [index, index + found.length]))
      }),
      { numRuns: 50 },
    )
  })
})

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}
