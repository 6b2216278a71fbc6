import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'
import { expect, inject, test } from 'vitest'

/** The centre of the code, without what AssemblyScript compiles and its result. */
const ROOMS = ['src/tables', 'src/serve', 'src/migrate/compare', 'src/migrate/evidence', 'src/grpc/messages']

/** The files of the checkout. */
const FILES = execFileSync('git', ['ls-files', '-zco', '--exclude-standard', '-x', 'node_modules'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => existsSync(file))

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  // biome-ignore lint/suspicious/noExplicitAny: the members differ by type.
  readonly [member: string]: any
}

type Change = readonly [start: number, end: number, by: string]

interface Place {
  readonly parent: Node
  readonly of: (node: Pick<Node, 'start' | 'end'>) => string
  /** Whether the function may return undefined. */
  readonly maybe: boolean
}

const OTHER: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '&&': '||', '||': '&&', '??': '&&' },
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=' },
  ...{ some: 'every', every: 'some', min: 'max', max: 'min' },
}

const whole = ({ start, end }: Node, by: string): readonly Change[] => [[start, end, by]]

/** Replaces an operator between two nodes. */
function between(from: Node, to: Node, what: string, by: string | undefined, { of }: Place): readonly Change[] {
  const at = of({ start: from.end, end: to.start }).indexOf(what)
  return at < 0 || by === undefined ? [] : [[from.end + at, from.end + at + what.length, by]]
}

const decided = ({ test }: Node, { of }: Place) => [`!(${of(test)})`, 'true', 'false'].flatMap((by) => whole(test, by))
const operated = (node: Node, place: Place) => between(node.left, node.right, node.operator, OTHER[node.operator], place)

/** The changes of a node, by its type. What counts the rounds of a loop stays: an endless one shows nothing. */
const CHANGES: Readonly<Record<string, (node: Node, place: Place) => readonly Change[]>> = {
  IfStatement: decided,
  ConditionalExpression: decided,
  BinaryExpression: operated,
  LogicalExpression: operated,
  AssignmentExpression: operated,
  UnaryExpression: (node, { parent, of }) => (node.operator === '!' && parent.test !== node ? whole(node, of(node.argument)) : []),
  ExpressionStatement: (node, { of }) =>
    /^(?:Call|Await|Assignment|Update)E/.test(node.expression.type) && !of(node).startsWith('super') ? whole(node, ';') : [],
  ReturnStatement: (node, { maybe }) => (node.argument && maybe ? whole(node, 'return undefined') : []),
  Literal(node, { parent }) {
    const { value } = node
    if (parent.key === node && !parent.computed) return []
    if (typeof value === 'number') return whole(node, `${value + 1}`)
    if (typeof value === 'boolean') return whole(node, `${!value}`)
    return typeof value === 'string' && value !== '' ? whole(node, "''") : []
  },
  TemplateLiteral: (node, { parent }) => (parent.type === 'TaggedTemplateExpression' ? [] : whole(node, '``')),
  ArrayExpression: (node) => (node.elements.length > 0 ? whole(node, '[]') : []),
  MemberExpression(node, place) {
    if (node.optional) return between(node.object, node.property, '?.', node.computed ? '' : '.', place)
    const other = place.parent.callee === node ? OTHER[node.property.name] : undefined
    return other === undefined ? [] : whole(node.property, other)
  },
  CallExpression: (node, place) => (node.optional ? between(node.callee, { ...node, start: node.end }, '?.', '', place) : []),
}

/** Types are no code, except what `as` and `!` stand behind. */
const PASSED_OVER = /^(?:Import|ExportAll|TS(?!AsExpression|NonNull|Satisfies))/

function* changesIn(node: Node, place: Place): Generator<Change> {
  if (PASSED_OVER.test(node.type)) return
  const maybe = /Function/.test(node.type) ? !!node.returnType && /undefined|void/.test(place.of(node.returnType)) : place.maybe
  yield* CHANGES[node.type]?.(node, place) ?? []
  for (const inner of Object.values(node).flat()) if (inner?.type) yield* changesIn(inner, { ...place, parent: node, maybe })
}

/** One change of one place in the code, with the line before and after, and the whole file after it. */
interface CodeMutant {
  readonly room: string
  readonly at: string
  readonly file: string
  readonly before: string
  readonly after: string
  readonly text: string
}

/** The seed and a text fix a lot: where two commits have the same code, they draw the same. */
const lot = (...parts: readonly (number | string)[]) => createHash('sha1').update(parts.join('\n')).digest('hex')
const inLots = <T>(items: readonly T[], lotOf: (item: T) => string) => items.toSorted((a, b) => (lotOf(a) < lotOf(b) ? -1 : 1))

function mutantsOf(room: string, file: string, seed: number): readonly CodeMutant[] {
  const text = readFileSync(file, 'utf8')
  const program = parseSync(file, text).program as unknown as Node
  const place: Place = { parent: program, of: ({ start, end }) => text.slice(start, end), maybe: false }
  const mutants = [...changesIn(program, place)].map(([start, end, by]) => {
    const from = text.lastIndexOf('\n', start) + 1
    const to = `${text}\n`.indexOf('\n', end)
    const [before, after] = [text.slice(from, to).trim(), (text.slice(from, start) + by + text.slice(end, to)).trim()]
    const at = `${file}:${text.slice(0, start).split('\n').length}`
    return { room, at, file, before, after, text: text.slice(0, start) + by + text.slice(end) }
  })
  return inLots(mutants, ({ before, after }) => lot(seed, file, before, after))
}

/** Takes one of each list in turn, until all are empty. */
function dealt<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/** All mutants: those of the rooms in turn, and in a room those of its files. */
function drawn(seed: number): readonly CodeMutant[] {
  const code = FILES.filter((file) => /^src\/(?!.*\/engine\/).*(?<!\.d|-module)\.ts$/.test(file))
  const files = inLots(code, (file) => lot(seed, file))
  const mutantsIn = (room: string) => files.filter((file) => file.startsWith(`${room}/`)).map((file) => mutantsOf(room, file, seed))
  return dealt(ROOMS.map((room) => dealt(mutantsIn(room))))
}

/** The files that import each file. */
function importersOf(): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const file of FILES.filter((one) => /^(?:src|mappings|test)\/.*\.ts$/.test(one))) {
    const text = readFileSync(file, 'utf8').replace(/^import type .*$/gm, '')
    for (const [, path = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const imported = normalize(join(dirname(file), path))
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/** Files of tests that try a mutant, and seconds of a processor that they may take. */
const TESTS = 20
const SECONDS = 60

/** The tests that reach a file by the fewest imports: those of its chapter, of its room, and then the wider ones. */
function nearest(file: string, importers: ReturnType<typeof importersOf>): readonly string[] {
  const ofChapter = (one: string) => Number(basename(one).startsWith(basename(file, '.ts')))
  const seen = new Set([file])
  const tests: string[] = []
  for (let ring = [file]; ring.length > 0; ) {
    ring = [...new Set(ring.flatMap((one) => importers.get(one) ?? []))].filter((one) => !seen.has(one))
    for (const one of ring) seen.add(one)
    tests.push(...ring.filter((one) => /^test\/(?!programs\/).*\.test\.ts$/.test(one)).sort((a, b) => ofChapter(b) - ofChapter(a)))
  }
  return tests.slice(0, TESTS)
}

/** The config of the tests for a copy: nothing is built, the nearest come first, and what was compiled stays in the copy. */
const CONFIG = `import config from './vitest.config.ts'
const [, ...projects] = config.test.projects
for (const { test } of projects) delete test.globalSetup
const provide = { cli: new URL('dist/bundle/cli.js', import.meta.url).pathname }
const experimental = { fsModuleCache: true, fsModuleCachePath: '.modules' }
const place = ({ moduleId }) => process.argv.findIndex((file) => moduleId.endsWith(file))
const sequencer = class { shard(files) { return files } sort(files) { return files.toSorted((a, b) => place(a) - place(b)) } }
export default { ...config, test: { ...config.test, projects, provide, experimental, sequence: { sequencer } } }
`

/** A test file that fails, with its first title and the files before it; no file when the tests do not end in time; undefined when all pass. */
type Failure = { readonly file?: string; readonly title?: string; readonly passed?: readonly string[] } | undefined

async function failing(copy: string, files: readonly string[]): Promise<Failure> {
  if (files.length === 0) return undefined
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const options = ['--config', 'mutants.config.ts', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`]
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITE|^TEST$/.test(name)))
  // A processor's time, because a busy machine takes longer by the clock.
  const limited = ['-c', `ulimit -t ${SECONDS}; exec "$0" "$@"`, process.execPath, 'node_modules/vitest/vitest.mjs', 'run']
  const child = spawn('sh', [...limited, ...options, ...files], { cwd: copy, env, stdio: 'ignore', detached: true })
  const stop = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 10_000 * SECONDS)
  const status = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(stop)
  if (status === 0) return undefined
  const results: readonly Node[] = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
  const failed = results.find((one) => one.status === 'failed')
  if (!failed) return {}
  const { fullName: title = failed.message } = failed.assertionResults.find((one: Node) => one.status === 'failed') ?? {}
  const passed = results.filter(({ assertionResults: all }) => all.length > 0 && all.every((one: Node) => one.status === 'passed'))
  const [file, ...before] = [failed, ...passed].map(({ name }) => name.slice(copy.length + 1) as string)
  return { file: file!, title, passed: before }
}

/** Whether a test file fails without a fault: such a file proves nothing of a fault. */
const loud = new Map<string, boolean>()

/** What notices the fault. */
async function noticed(mutant: CodeMutant, copy: string, tests: readonly string[]): Promise<Failure> {
  const place = join(copy, mutant.file)
  const before = readFileSync(place, 'utf8')
  writeFileSync(place, mutant.text)
  const failure = await failing(copy, tests)
  const by = failure?.file
  // A test that a busy machine fails does not fail again.
  const isTwice = by === undefined || (await failing(copy, [by])) !== undefined
  writeFileSync(place, before)
  if (by === undefined) return failure
  if (!loud.has(by)) loud.set(by, (await failing(copy, [by])) !== undefined)
  if (isTwice && !loud.get(by)) return failure
  const others = tests.filter((one) => one !== by && !failure?.passed?.includes(one))
  return noticed(mutant, copy, others)
}

test('faults of the code are noticed by the tests near it, except those that are printed', async () => {
  const { code = 0, only = '', seed } = inject('mutants')
  const all = drawn(seed)
  const queue = all.filter(({ at }) => at.includes(only)).slice(0, code)
  const importers = importersOf()
  const results: (readonly [room: string, result: string])[] = []
  const work = async (copy: string) => {
    for (const file of FILES) cpSync(file, join(copy, file))
    for (const folder of ['node_modules', 'dist']) symlinkSync(join(process.cwd(), folder), join(copy, folder))
    writeFileSync(join(copy, 'mutants.config.ts'), CONFIG)
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const failure = await noticed(mutant, copy, nearest(mutant.file, importers))
      const result = !failure ? 'survived' : failure.file === undefined ? 'timed out' : 'killed'
      results.push([mutant.room, result])
      console.log(`${result}: ${mutant.at}\n    - ${mutant.before}\n    + ${mutant.after}`)
      if (failure?.file) console.log(`    by ${failure.file}: ${failure.title}`)
    }
  }
  const copies = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'crosswalk-mutants-')))
  try {
    await Promise.all(copies.map(work))
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true })
  }
  for (const room of [...ROOMS, 'src']) {
    const inRoom = results.filter(([of]) => of.startsWith(room)).map(([, result]) => result)
    if (inRoom.length === 0) continue
    const [killed, survived, late] = ['killed', 'survived', 'timed out'].map((one) => inRoom.filter((result) => result === one).length)
    const score = Math.round(100 * (1 - survived! / inRoom.length))
    console.log(`${room}: killed ${killed}, survived ${survived}, timed out ${late}, score ${score} %`)
  }
  console.log(`a sample of ${all.length} with seed ${seed}`)
  expect([...loud].filter(([, isLoud]) => isLoud)).toEqual([])
})
