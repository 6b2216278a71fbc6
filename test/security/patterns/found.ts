import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ESTree, parseSync, Visitor } from 'vite'

/** A regular expression of the source: a literal, or made from a literal text. */
export interface Pattern {
  readonly file: string
  readonly line: number
  /** In the form of a literal: `/a+/g`. */
  readonly literal: string
}

/** A regular expression that is made at run time from something other than one text. */
export interface Made {
  readonly file: string
  readonly code: string
}

export interface Patterns {
  readonly known: readonly Pattern[]
  readonly made: readonly Made[]
}

/** Returns all regular expressions of the files below these folders. */
export function patternsBelow(folders: readonly string[]): Patterns {
  const files = folders.flatMap((folder) =>
    (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /[.][jt]sx?$/.test(name)).map((name) => join(folder, name)),
  )
  const found = files.map((file) => patternsOf(file, readFileSync(file, 'utf8')))
  return { known: found.flatMap(({ known }) => known), made: found.flatMap(({ made }) => made) }
}

/** Returns all regular expressions of one file. */
export function patternsOf(file: string, text: string): Patterns {
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
