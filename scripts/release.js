/**
 * Releases what is checked out, by the hand of a person: checks it, packs it, lists what it contains, and publishes that very tarball.
 * `--dry-run` publishes nothing. `--without-provenance` is for a machine that cannot prove what it builds (docs/releasing.md).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf } from './release-checks.js'

const FLAGS = ['--dry-run', '--without-provenance']
const FOLDER = 'release'

const flags = process.argv.slice(2)
const unknown = flags.find((flag) => !FLAGS.includes(flag))
if (unknown !== undefined) end(`npm run release has no flag ${unknown}; it has ${FLAGS.join(' and ')}.`, 2)
const dry = flags.includes('--dry-run')
const provenance = !flags.includes('--without-provenance')

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const { name, version } = manifest

const problems = problemsOf({
  manifest,
  lock: JSON.parse(readFileSync('package-lock.json', 'utf8')),
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  changed: output('git', 'status', '--porcelain'),
  tags: output('git', 'tag', '--points-at', 'HEAD').split('\n'),
  published: published(),
  provenance,
  env: process.env,
})
for (const problem of problems) console.error(`not ready: ${problem}`)
if (problems.length > 0 && !dry) end(`Nothing was published: ${problems.length} of the checks failed.`, 1)

const tarball = pack()
writeFileSync(join(FOLDER, `${name}-${version}.cdx.json`), sbom())
const files = [tarball, `${name}-${version}.cdx.json`]
writeFileSync(join(FOLDER, 'SHA256SUMS'), files.map((file) => `${sumOf(join(FOLDER, file))}  ${file}\n`).join(''))
console.log(`made ${[...files, 'SHA256SUMS'].map((file) => join(FOLDER, file)).join(', ')}`)

const publish = ['publish', join(FOLDER, tarball), '--access', 'public', ...(provenance ? ['--provenance'] : [])]
if (dry) end(`would run: npm ${publish.join(' ')}`, problems.length > 0 ? 1 : 0)
process.exit(spawnSync('npm', publish, { stdio: 'inherit' }).status ?? 1)

function pack() {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const out = output('npm', 'pack', '--json', '--pack-destination', FOLDER)
  return JSON.parse(out.slice(out.search(/^\[$/m)))[0].filename
}

/** What the package installs, as CycloneDX: from the lock file, without what only builds and tests. */
function sbom() {
  return output('npm', 'sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--omit', 'dev', '--package-lock-only')
}

/** Whether the registry has this version; undefined if it does not tell. */
function published() {
  const { status, stdout, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' })
  if (status === 0) return stdout.trim() !== ''
  return stderr.includes('E404') ? false : undefined
}

function output(program, ...argv) {
  return execFileSync(program, argv, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

function sumOf(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function end(sentence, code) {
  console[code === 0 ? 'log' : 'error'](sentence)
  process.exit(code)
}
