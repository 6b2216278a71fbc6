import { type AST, RegExpParser } from '@eslint-community/regexpp'

/**
 * One step of a backtracking matcher. `leaf` takes one character, forwards or (in a lookbehind) backwards.
 * `fork` tries `first` and then `second`. `enter` and `moved` end a repetition that matched nothing.
 */
export type Step =
  | { readonly kind: 'leaf'; readonly takes: Takes; readonly back: boolean }
  | { readonly kind: 'edge'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'look'; readonly inner: Program; readonly negate: boolean }
  | { readonly kind: 'fork'; readonly first: number; readonly second: number }
  | { readonly kind: 'jump'; readonly to: number }
  | { readonly kind: 'enter' | 'moved' }
  | { readonly kind: 'end' }

export type Program = readonly Step[]

/** True if a leaf of the pattern accepts this character. */
export type Takes = (code: number) => boolean

/** The parts of a regular expression that the matcher and the generator of hostile texts share. */
export interface Parsed {
  readonly ast: AST.RegExpLiteral
  readonly takes: (leaf: Leaf) => Takes
}

export type Leaf = AST.Character | AST.CharacterClass | AST.CharacterSet

/**
 * @param literal such as `/a+/g` @throws for anything that the matcher does not know
 */
export function parsePattern(literal: string): Parsed {
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
export function programOf({ ast, takes }: Parsed): Program {
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
