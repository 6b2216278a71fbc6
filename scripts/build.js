/**
 * Builds `dist` from nothing, so that it never holds what an older state of the sources left: the modules, the declarations that `exports`
 * of package.json reaches, the page of the report, and the program. With `--if-older` it does so only if a source is newer than what is there.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { keepReachable } from './declarations.js'

const SOURCES = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'src', 'mappings']
/** What the build makes last. */
const LAST = 'dist/bundle/cli.js'

process.chdir(join(import.meta.dirname, '..'))
if (!process.argv.includes('--if-older') || isOlder()) await build()

/** Whether the build is missing or older than a source. A folder is newer once a file was added to it or removed from it. */
function isOlder() {
  if (!existsSync(LAST)) return true
  const { mtimeMs } = statSync(LAST)
  const inside = (path) => (statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [])
  return SOURCES.some((source) => [source, ...inside(source)].some((path) => statSync(path).mtimeMs > mtimeMs))
}

async function build() {
  const compiler = 'node_modules/typescript/bin/tsc'
  if (!existsSync(compiler)) fail('The compiler is missing, because it is a development dependency: run npm install --include=dev.')
  console.error('Building Crosswalk into dist: the modules, the page of the report and the program. It takes about ten seconds of a core.')
  rmSync('dist', { recursive: true, force: true })
  try {
    // A comment is read in the declarations alone, which keep theirs: without them the package is 7 % smaller.
    for (const flags of [['--removeComments'], ['--declaration', '--emitDeclarationOnly', '--noCheck']]) {
      execFileSync(process.execPath, [compiler, '-p', '.', ...flags], { stdio: 'inherit' })
    }
  } catch {
    fail('The sources do not compile; the lines above say where.')
  }
  keepReachable('dist')
  const { build: bundle } = await import('vite')
  await bundle({ root: 'src/admin/web', configFile: 'src/admin/web/vite.config.js' })
  await import('./bundle.js')
  // npm does so only when it makes its link to the program.
  chmodSync(LAST, 0o755)
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
