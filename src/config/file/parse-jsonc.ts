import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { lineAndColumn, type Parsed, wrongAt } from './parsed-file.ts'

/** What is wrong, by the parser's name for it. */
const WRONG: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a text needs quotes around it',
  InvalidNumberFormat: 'a number is incomplete',
  PropertyNameExpected: 'the name of a member is missing, in double quotes',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'the file should end here',
  UnexpectedEndOfComment: 'a comment has no end',
  UnexpectedEndOfString: 'a text has no closing quote',
  UnexpectedEndOfNumber: 'a number is incomplete',
  InvalidUnicode: 'an escaped character is incomplete',
  InvalidEscapeCharacter: 'a backslash stands before a character that needs none',
  InvalidCharacter: 'a character is not allowed here',
}

/** Reads JSON, in which comments and commas before a closing bracket are allowed. */
export function parseJsonc(text: string): Parsed {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) return { wrong: wrongAt(text, first.offset, WRONG[printParseErrorCode(first.error)] ?? 'this is no JSON') }
  if (!root) return { wrong: 'it is empty' }
  const repeated = repeatedIn(root)
  if (repeated) return { wrong: wrongAt(text, repeated.offset, 'an earlier member has this name') }
  return {
    value: getNodeValue(root),
    placeOf(path) {
      const node = findNodeAtLocation(root, [...path])
      if (!node) return undefined
      const { line, column } = lineAndColumn(text, node.offset)
      return `${line}:${column}`
    },
  }
}

/** Returns the first member whose name its object has already; JSON would silently keep one of them. */
function repeatedIn({ type, children = [] }: Node): Node | undefined {
  if (type === 'object') {
    const names = children.map((property) => property.children?.[0]?.value)
    const at = names.findIndex((name, nth) => names.indexOf(name) < nth)
    if (at >= 0) return children[at]
  }
  for (const child of children) {
    const found = repeatedIn(child)
    if (found) return found
  }
  return undefined
}
