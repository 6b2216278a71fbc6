import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import fc from 'fast-check'
import { type ESTree, parseSync, Visitor } from 'vite'
import { describe, expect, it } from 'vitest'
import { isFull } from '../sample.ts'

/**
 * One step of a backtracking matcher. `leaf` takes one character, forwards or (in a lookbehind) backwards.
 * `fork` tries `first` and then `second`. `enter` and `moved` end a repetition that matched nothing.
 */
type Step =
  | { readonly kind: 'leaf'; readonly takes: Takes; readonly back: boolean }
  | { readonly kind: 'edge'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'look'; readonly inner: Program; readonly negate: boolean }
  | { readonly kind: 'fork'; readonly first: number; readonly second: number }
  | { readonly kind: 'jump'; readonly to: number }
  | { readonly kind: 'enter' | 'moved' }
  | { readonly kind: 'end' }

type Program = readonly Step[]

/** True if a leaf of the pattern accepts this character. */
type Takes = (code: number) => boolean

/** The parts of a regular expression that the matcher and the generator of hostile texts share. */
interface Parsed {
  readonly ast: AST.RegExpLiteral
  readonly takes: (leaf: Leaf) => Takes
}

type Leaf = AST.Character | AST.CharacterClass | AST.CharacterSet

/**
 * @param literal such as `/a+/g` @throws for anything that the matcher does not know
 */
function parsePattern(literal: string): Parsed {
  const ast = new RegExpParser().parseLiteral(literal)
  if (ast.flags.unicodeSets) throw new Error(`${literal}: teach the matcher the flag v first`)
  const known = new Map<Leaf, Takes>()
  const takes = (leaf: Leaf) => {
    const kept = known.get(leaf) ?? takesOf(leaf, ast.flags)
    known.set(leaf, kept)
    return kept
  }
  return { ast, takes }
}

/**
 * RegExp itself decides what one character matches; the order of attempts is ours.
 * A surrogate pair counts as two characters here, even with the flag u.
 */
function takesOf(leaf: Leaf, { ignoreCase, dotAll, unicode }: AST.Flags): Takes {
  const alone = new RegExp(`^(?:${leaf.raw})$`, (ignoreCase ? 'i' : '') + (dotAll ? 's' : '') + (unicode ? 'u' : ''))
  const test = (code: number) => alone.test(String.fromCharCode(code))
  // The matcher asks millions of times.
  const latin = Array.from({ length: 256 }, (_, code) => test(code))
  const known = new Map<number, boolean>()
  return (code) => {
    const kept = latin[code] ?? known.get(code)
    if (kept !== undefined) return kept
    const found = test(code)
    known.set(code, found)
    return found
  }
}

/** Returns the steps of a whole regular expression. */
function programOf({ ast, takes }: Parsed): Program {
  /** Appends the steps of any part to `into`. */
  function add(node: AST.Element, into: Step[], back: boolean): void {
    switch (node.type) {
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
        into.push({ kind: 'leaf', takes: takes(node), back })
        return
      case 'Group':
      case 'CapturingGroup':
        addAlternatives(node.alternatives, into, back)
        return
      case 'Quantifier':
        addRepetition(node, into, back)
        return
      case 'Assertion':
        if (node.kind === 'lookahead' || node.kind === 'lookbehind') into.push({ kind: 'look', inner: inner(node), negate: node.negate })
        else into.push({ kind: 'edge', holds: edgeOf(node, ast.flags.multiline) })
        return
      default:
        throw new Error(`${ast.raw}: teach the matcher ${node.type} first`)
    }
  }

  function inner(node: AST.LookaroundAssertion): Program {
    const steps: Step[] = []
    addAlternatives(node.alternatives, steps, node.kind === 'lookbehind')
    return [...steps, { kind: 'end' }]
  }

  function addAlternatives(alternatives: readonly AST.Alternative[], into: Step[], back: boolean): void {
    const ends: number[] = []
    for (const [nth, { elements }] of alternatives.entries()) {
      const isLast = nth === alternatives.length - 1
      const fork = isLast ? undefined : into.push({ kind: 'end' }) - 1
      for (const element of back ? elements.toReversed() : elements) add(element, into, back)
      if (!isLast) ends.push(into.push({ kind: 'end' }) - 1)
      if (fork !== undefined) into[fork] = { kind: 'fork', first: fork + 1, second: into.length }
    }
    for (const at of ends) into[at] = { kind: 'jump', to: into.length }
  }

  /** Adds the minimum number of copies. Then follows a loop, or as many optional copies, each with those after it. */
  function addRepetition({ element, min, max, greedy }: AST.Quantifier, into: Step[], back: boolean): void {
    for (let copy = 0; copy < min; copy++) add(element, into, back)
    const isLoop = max === Number.POSITIVE_INFINITY
    const forks: number[] = []
    for (let copy = min; copy < (isLoop ? min + 1 : max); copy++) {
      forks.push(into.push({ kind: 'end' }) - 1)
      into.push({ kind: 'enter' })
      add(element, into, back)
      into.push({ kind: 'moved' })
      if (isLoop) into.push({ kind: 'jump', to: forks[0]! })
    }
    for (const fork of forks)
      into[fork] = greedy ? { kind: 'fork', first: fork + 1, second: into.length } : { kind: 'fork', first: into.length, second: fork + 1 }
  }

  const steps: Step[] = []
  addAlternatives(ast.pattern.alternatives, steps, false)
  return [...steps, { kind: 'end' }]
}

const WORDS = new Set([...Array(128).keys()].filter((code) => /\w/.test(String.fromCharCode(code))))
const isWord = (text: string, at: number) => WORDS.has(text.charCodeAt(at))
const LINE_ENDS = new Set([0x0a, 0x0d, 0x2028, 0x2029])
const isLineEnd = (text: string, at: number) => LINE_ENDS.has(text.charCodeAt(at))

function edgeOf(node: AST.BoundaryAssertion, multiline: boolean): (text: string, at: number) => boolean {
  switch (node.kind) {
    case 'start':
      return (text, at) => at === 0 || (multiline && isLineEnd(text, at - 1))
    case 'end':
      return (text, at) => at === text.length || (multiline && isLineEnd(text, at))
    case 'word':
      return (text, at) => (isWord(text, at - 1) !== isWord(text, at)) !== node.negate
  }
}

/** The result of a search and its cost. */
interface Search {
  /** The start and the end of each match. */
  readonly matches: readonly (readonly [start: number, end: number])[]
  readonly steps: number
  /** True if it stopped after `most` steps. */
  readonly stopped: boolean
}

/**
 * Finds every match of the text from left to right, as `matchAll` does: it tries each index in turn, and there each way through the
 * program until one ends. V8 does the same, so the steps grow as its time does.
 * @param sticky whether a match must begin where the last one ended
 * @param most steps after which the search stops
 */
function search(program: Program, text: string, sticky: boolean, most = Number.POSITIVE_INFINITY): Search {
  const matches: [number, number][] = []
  const count = { steps: 0, most }
  for (let at = 0; at <= text.length && count.steps < most; ) {
    const end = run(program, text, at, count)
    if (end !== undefined) matches.push([at, end])
    else if (sticky) break
    at = end === undefined || end === at ? at + 1 : end
  }
  return { matches, steps: count.steps, stopped: count.steps >= most }
}

/** An untried way, and the beginnings of the repetitions around it. */
interface Way {
  readonly step: number
  readonly at: number
  readonly began: Began | undefined
}

/** The beginnings of the current repetitions, innermost first. */
interface Began {
  readonly at: number
  readonly outer: Began | undefined
}

interface Count {
  steps: number
  readonly most: number
}

/** Returns the end of the match that begins at `start`; undefined if there is none. */
function run(program: Program, text: string, start: number, count: Count): number | undefined {
  const ways: Way[] = [{ step: 0, at: start, began: undefined }]
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const end = follow(program, text, way, ways, count)
    if (end !== undefined) return end
  }
  return undefined
}

/** Follows one way to its end or to a dead end. */
function follow(program: Program, text: string, way: Way, ways: Way[], count: Count): number | undefined {
  let { step, at, began } = way
  for (;;) {
    if (++count.steps > count.most) return undefined
    const now = program[step++]!
    switch (now.kind) {
      case 'leaf': {
        const read = now.back ? at - 1 : at
        if (read < 0 || read >= text.length || !now.takes(text.charCodeAt(read))) return undefined
        at = now.back ? read : at + 1
        break
      }
      case 'edge':
        if (!now.holds(text, at)) return undefined
        break
      case 'look':
        if ((run(now.inner, text, at, count) === undefined) !== now.negate) return undefined
        break
      case 'fork':
        ways.push({ step: now.second, at, began })
        step = now.first
        break
      case 'jump':
        step = now.to
        break
      case 'enter':
        began = { at, outer: began }
        break
      case 'moved':
        if (began?.at === at) return undefined
        began = began?.outer
        break
      case 'end':
        return at
    }
  }
}

/** A text that can grow: `head`, then `pump` any number of times, then `tail`. */
interface Hostile {
  readonly head: string
  readonly pump: string
  readonly tail: string
}

/** Returns the text with its pump repeated so many times. */
const grown = ({ head, pump, tail }: Hostile, times: number) => head + pump.repeat(times) + tail

/**
 * Returns texts that may make the pattern try many ways. Each begins with a way to a repetition, once or repeatedly.
 * Then come characters that the pattern distinguishes: alone, in pairs, and behind that way. It ends with something unexpected.
 */
function hostileTexts(pattern: Parsed): readonly Hostile[] {
  const { ast, takes } = pattern
  const letters = lettersOf(pattern)
  const sample = sampler(takes, letters)
  const leading = unique(repetitions(ast).map((repetition) => sample.before(repetition)))
  const words = unique([...leading, ...repetitions(ast).map(({ element }) => sample.of(element)), sample.whole(ast)])
  const singles = unique([...letters, ...words])
  const pairs = unique([...letters, ...words].flatMap((first) => letters.map((second) => first + second)))
  const tails = ['', ...letters]
  const oddTails = ['', odd(ast, takes, letters)]
  const texts = [
    ...singles.flatMap((pump) => leading.flatMap((head) => tails.map((tail) => ({ head, pump, tail })))),
    ...pairs.flatMap((pump) => leading.flatMap((head) => oddTails.map((tail) => ({ head, pump, tail })))),
  ]
  return texts.filter(({ pump }) => pump !== '')
}

/** Returns one character of each kind that the pattern distinguishes. */
function lettersOf({ ast, takes }: Parsed): readonly string[] {
  const leaves = leavesOf(ast).map(takes)
  const kinds = new Map<string, string>()
  for (const code of CODES) {
    const letter = String.fromCharCode(code)
    const kind = [...leaves.map((take) => take(code)), /\w/.test(letter), letter === '\n'].map(Number).join('')
    if (!kinds.has(kind)) kinds.set(kind, letter)
  }
  return [...kinds.values()]
}

/**
 * Letters first, for readable texts; then the rest of ASCII; then characters that are special for folding, line ends, spaces and
 * surrogates.
 */
const CODES = [
  ...[...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'].map((letter) => letter.charCodeAt(0)),
  ...Array(128).keys(),
  ...[0xa0, 0xe9, 0x17f, 0x212a, 0x2028, 0x2026, 0xfeff, 0xd83d, 0xde00],
]

/** Returns the letter that the fewest leaves accept. */
function odd(ast: AST.RegExpLiteral, takes: Parsed['takes'], letters: readonly string[]): string {
  const leaves = leavesOf(ast).map(takes)
  const taken = (letter: string) => leaves.filter((take) => take(letter.charCodeAt(0))).length
  return letters.toSorted((a, b) => taken(a) - taken(b))[0] ?? ''
}

function leavesOf(ast: AST.RegExpLiteral): readonly Leaf[] {
  const leaves: Leaf[] = []
  const add = (leaf: Leaf) => void (isInClass(leaf) || leaves.push(leaf))
  visitRegExpAST(ast, { onCharacterEnter: add, onCharacterClassEnter: add, onCharacterSetEnter: add })
  return leaves
}

const isInClass = ({ parent }: Leaf) => parent?.type === 'CharacterClass' || parent?.type === 'CharacterClassRange'

/** The maximum length of a harmless repetition. */
const SHORT = 16

/** Returns the repetitions that may be long. */
function repetitions(ast: AST.RegExpLiteral): readonly AST.Quantifier[] {
  const found: AST.Quantifier[] = []
  visitRegExpAST(ast, { onQuantifierEnter: (node) => void (node.max - node.min >= SHORT && found.push(node)) })
  return found
}

const unique = (texts: readonly string[]) => [...new Set(texts)]

/** Returns short texts that parts of the pattern accept. */
function sampler(takes: Parsed['takes'], letters: readonly string[]) {
  const letterOf = (take: Takes) => letters.find((letter) => take(letter.charCodeAt(0))) ?? ''
  const sequence = (elements: readonly AST.Element[]): string => elements.map(of).join('')

  function of(node: AST.Element): string {
    if (node.type === 'Character' || node.type === 'CharacterClass' || node.type === 'CharacterSet') return letterOf(takes(node))
    if (node.type === 'Quantifier') return of(node.element).repeat(Math.max(node.min, 1))
    if (node.type === 'Group' || node.type === 'CapturingGroup') return sequence(node.alternatives[0]?.elements ?? [])
    if (node.type === 'Assertion' && node.kind === 'lookbehind' && !node.negate) return sequence(node.alternatives[0]?.elements ?? [])
    return ''
  }

  /** Returns a text that leads to this element. */
  function before(node: AST.Node): string {
    const { parent } = node
    if (parent === null || parent.type === 'RegExpLiteral') return ''
    if (parent.type !== 'Alternative') return before(parent)
    const earlier = parent.elements.slice(0, parent.elements.indexOf(node as AST.Element))
    return before(parent) + sequence(earlier)
  }

  return { of, before, whole: (ast: AST.RegExpLiteral) => sequence(ast.pattern.alternatives[0]?.elements ?? []) }
}

/** A text for which a pattern needs too many steps. */
interface Growth {
  readonly text: Hostile
  /** The steps for each length, each twice the one before; the last count is too high. */
  readonly steps: readonly number[]
}

/** How often the pump is repeated in each text. */
const LENGTHS = [32, 64, 128]

/** A number of steps that is always allowed for the shortest text; exponential growth exceeds it. */
const FIRST = 100_000

/** Twice the text may take slightly more than twice the steps. */
const TWICE = 2.3

/**
 * Returns the first hostile text on which the steps of a pattern (`/a+/g`) grow faster than the text; undefined if there is none.
 * Tries all hostile texts, or one of `each`.
 */
function growthOf(literal: string, each = 1): Growth | undefined {
  const pattern = parsePattern(literal)
  const program = programOf(pattern)
  for (const text of hostileTexts(pattern).filter((_, nth) => nth % each === 0)) {
    const steps: number[] = []
    for (const length of LENGTHS) {
      // A bounded repetition may cost one step for each of its copies, once.
      const most = steps.length === 0 ? FIRST : TWICE * steps.at(-1)! + sizeOf(program)
      const found = search(program, grown(text, length), pattern.ast.flags.sticky, most)
      steps.push(found.steps)
      if (found.stopped) return { text, steps }
    }
  }
  return undefined
}

function sizeOf(program: Program): number {
  return program.reduce((size, step) => size + (step.kind === 'look' ? sizeOf(step.inner) : 1), 0)
}

/** A regular expression of the source: a literal, or made from a literal text. */
interface Pattern {
  readonly file: string
  readonly line: number
  /** In the form of a literal: `/a+/g`. */
  readonly literal: string
}

/** A regular expression that is made at run time from something other than one text. */
interface Made {
  readonly file: string
  readonly code: string
}

interface Patterns {
  readonly known: readonly Pattern[]
  readonly made: readonly Made[]
}

/** Returns all regular expressions of the files below these folders. */
function patternsBelow(folders: readonly string[]): Patterns {
  const files = folders.flatMap((folder) =>
    (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /[.][jt]sx?$/.test(name)).map((name) => join(folder, name)),
  )
  const found = files.map((file) => patternsOf(file, readFileSync(file, 'utf8')))
  return { known: found.flatMap(({ known }) => known), made: found.flatMap(({ made }) => made) }
}

/** Returns all regular expressions of one file. */
function patternsOf(file: string, text: string): Patterns {
  const known: Pattern[] = []
  const made: Made[] = []
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const add = (node: { start: number }, literal: string) =>
    known.push({ file, line: text.slice(0, node.start).split('\n').length, literal })
  const addCall = (node: ESTree.NewExpression | ESTree.CallExpression) => {
    const [source, flags] = node.arguments.map(textOf)
    if (source === undefined || (node.arguments.length > 1 && flags === undefined))
      made.push({ file, code: text.slice(node.start, node.end) })
    else add(node, String(new RegExp(source, flags)))
  }
  new Visitor({
    Literal: (node) => {
      if ('regex' in node) add(node, node.raw ?? '')
    },
    NewExpression: (node) => {
      if (isRegExp(node.callee)) addCall(node)
    },
    CallExpression: (node) => {
      if (isRegExp(node.callee) || isSearch(node)) addCall(node)
    },
  }).visit(program)
  return { known, made }
}

const isRegExp = (callee: ESTree.Expression) => callee.type === 'Identifier' && callee.name === 'RegExp'

/** Methods of a text that turn a text argument into a regular expression. */
const SEARCHES = ['match', 'matchAll', 'search']

function isSearch({ callee, arguments: given }: ESTree.CallExpression): boolean {
  const isNamed = callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && SEARCHES.includes(callee.property.name)
  return isNamed && given.length === 1 && textOf(given[0]) !== undefined
}

function textOf(node: ESTree.Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? undefined
  return undefined
}

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

/** Every twelfth hostile text of a pattern of the project is tried, unless CROSSWALK_SAMPLE is `full`. */
const EACH = isFull ? 1 : 12

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
      { numRuns: isFull ? 50 : 15 },
    )
  })
})

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}
