import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'vite'

/** A place in the code that makes an error of v1. */
export interface ErrorSite {
  readonly file: string
  /** What it says, with `…` for what it puts in; empty if it says what others hand it. */
  readonly texts: readonly string[]
}

/** Folders without errors of v1: the admin port, commands, the sandbox, recorded cases and imagined answers. */
const OTHERS = ['src/admin/', 'src/app/cli/', 'src/sandbox/', 'src/tools/', 'src/migrate/modes/rules.ts', 'src/migrate/rollout/']

/** What makes an error, and which of its arguments says what is wrong. */
const MAKERS: Readonly<Record<string, number>> = {
  ApiError: 1,
  askAgain: 1,
  invalidArgument: 0,
  report: 1,
  unparsable: 1,
  badParameter: 0,
}

// biome-ignore lint/suspicious/noExplicitAny: a node of a syntax tree, of any kind
type Node = any

/** Returns every place that makes an error. */
export function errorSites(): readonly ErrorSite[] {
  return sourceFiles().flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    if (!Object.keys(MAKERS).some((name) => source.includes(`${name}(`))) return []
    const nodes = nodesIn(parseAst(source, { lang: 'ts' }))
    return nodes.flatMap((node): ErrorSite[] => {
      const said = saidBy(node)
      return said === undefined ? [] : [{ file, texts: textsIn(said, nodes) }]
    })
  })
}

/** Returns every text of a file, as `errorSites` writes them. */
export function textsOf(file: string): readonly string[] {
  return nodesIn(parseAst(readFileSync(file, 'utf8'), { lang: 'ts' })).flatMap((node) => textOf(node) ?? [])
}

function sourceFiles(): readonly string[] {
  return ['src', 'mappings']
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => `${root}/${name}`))
    .filter((file) => file.endsWith('.ts') && !file.includes('/engine/') && !OTHERS.some((folder) => file.startsWith(folder)))
    .sort()
}

function nodesIn(node: Node): readonly Node[] {
  if (Array.isArray(node)) return node.flatMap(nodesIn)
  if (typeof node?.type !== 'string') return []
  return [node, ...Object.values(node).flatMap((value) => (typeof value === 'object' ? nodesIn(value) : []))]
}

/** Returns the expression that says what is wrong, if a node makes an error. */
function saidBy({ type, callee, arguments: given }: Node): Node | undefined {
  if (type !== 'NewExpression' && type !== 'CallExpression') return undefined
  const position = callee?.type === 'Identifier' && Object.hasOwn(MAKERS, callee.name) ? MAKERS[callee.name] : undefined
  const said = position === undefined ? undefined : given[position]
  if (said?.type !== 'ObjectExpression') return said
  return said.properties.find(({ key }: Node) => key?.name === 'description')?.value
}

/** Returns the texts that an expression can be. A name stands for the constant of the file. */
function textsIn(said: Node, nodes: readonly Node[]): readonly string[] {
  const own = textOf(said)
  if (own !== undefined) return [own]
  if (said.type === 'ConditionalExpression') return [said.consequent, said.alternate].flatMap((branch) => textsIn(branch, nodes))
  if (said.type !== 'Identifier') return []
  const constants = nodes.filter(({ type, id }) => type === 'VariableDeclarator' && id?.name === said.name)
  return constants.flatMap(({ init }) => (init ? textsIn(init, []) : []))
}

function textOf(node: Node): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type !== 'TemplateLiteral') return undefined
  return node.quasis.map(({ value }: Node) => value.cooked).join('…')
}
