import { type AST, visitRegExpAST } from '@eslint-community/regexpp'
import type { Leaf, Parsed, Takes } from './program.ts'

/** A text that can grow: `head`, then `pump` any number of times, then `tail`. */
export interface Hostile {
  readonly head: string
  readonly pump: string
  readonly tail: string
}

/** Returns the text with its pump repeated so many times. */
export const grown = ({ head, pump, tail }: Hostile, times: number) => head + pump.repeat(times) + tail

/**
 * Returns texts that may make the pattern try many ways. Each begins with a way to a repetition, once or repeatedly.
 * Then come characters that the pattern distinguishes: alone, in pairs, and behind that way. It ends with something unexpected.
 */
export function hostileTexts(pattern: Parsed): readonly Hostile[] {
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
export function lettersOf({ ast, takes }: Parsed): readonly string[] {
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
