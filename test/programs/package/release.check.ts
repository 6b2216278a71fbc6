import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { userEnv } from './installed.ts'

const SCRIPT = join(process.cwd(), 'scripts/release.js')
const HOST = 'https://code.example/owner/thing'
const READY = {
  name: 'thing',
  version: '1.2.3',
  repository: { type: 'git', url: `git+${HOST}.git` },
  homepage: HOST,
  bugs: { url: `${HOST}/issues` },
  dependencies: { needed: '1.0.0' },
  devDependencies: { tested: '1.0.0' },
}
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-23\n\n- It works.\n'

/** A registry that has no package but those named here. */
const known: string[] = []
const registry = http.createServer((request, response) => {
  const has = known.includes(decodeURIComponent(request.url ?? '').slice(1))
  response.writeHead(has ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(has ? { name: 'thing', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': READY } } : {}))
})

let folder: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
})
afterAll(() => registry.close())

const git = (...argv: string[]) => execFileSync('git', argv, { cwd: folder, env: { ...userEnv(), ...AUTHOR }, stdio: 'pipe' })
const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.example', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b.example' }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-release-'))
  const { port } = registry.address() as AddressInfo
  env = {
    ...userEnv(),
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, '.npm'),
    npm_config_fetch_retries: '0',
  }
  known.length = 0
  write(READY, CHANGELOG)
  git('init', '--quiet', '--initial-branch=main')
  commit('v1.2.3')
  return () => rmSync(folder, { recursive: true })
})

function write(manifest: typeof READY | object, changelog: string): void {
  const pinned = { version: '1.0.0' }
  const packages = { '': READY, 'node_modules/needed': pinned, 'node_modules/tested': { ...pinned, dev: true } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ name: 'thing', version: '1.2.3', lockfileVersion: 3, packages }))
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  writeFileSync(join(folder, '.gitignore'), 'release/\n.npm/\n')
}

function commit(tag?: string): void {
  git('add', '--all')
  git('commit', '--quiet', '--message', 'all')
  if (tag !== undefined) git('tag', tag)
}

/** Exit code and output of the script. */
function release(...argv: string[]): Promise<{ readonly code: number; readonly out: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...argv], { cwd: folder, env }, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !/^npm warn/.test(line))
      resolve({ code: Number(error?.code ?? 0), out: lines.join('\n') })
    })
  })
}

it('makes the tarball, its contents and their sums, and publishes nothing', async () => {
  expect(await release('--dry-run', '--without-provenance')).toEqual({
    code: 0,
    out: 'made release/thing-1.2.3.tgz, release/thing-1.2.3.cdx.json, release/SHA256SUMS\nwould run: npm publish release/thing-1.2.3.tgz --access public',
  })
  expect(readdirSync(join(folder, 'release')).sort()).toEqual(['SHA256SUMS', 'thing-1.2.3.cdx.json', 'thing-1.2.3.tgz'])
  const { bomFormat, components } = JSON.parse(readFileSync(join(folder, 'release/thing-1.2.3.cdx.json'), 'utf8'))
  expect([bomFormat, components.map(({ name }: { name: string }) => name)]).toEqual(['CycloneDX', ['needed']])
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: join(folder, 'release') })
})

it('proves the origin where a job can', async () => {
  env = { ...env, ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1:1' }
  expect((await release('--dry-run')).out).toMatch(/npm publish release\/thing-1\.2\.3\.tgz --access public --provenance$/)
})

it('names everything that is not ready', async () => {
  known.push('thing')
  const { repository: _, ...homeless } = READY
  write({ ...homeless, private: true, version: '1.2.4' }, CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n- More.\n'))
  const { code, out } = await release()
  expect(code).toBe(1)
  expect(out.split('\n').filter((line) => !/^ ?M /.test(line))).toEqual([
    'not ready: package.json is private: remove "private".',
    'not ready: The tree has changes: commit or remove them.',
    'not ready: The commit has no tag v1.2.4: git tag -s v1.2.4.',
    'not ready: package-lock.json is not of version 1.2.4: npm install.',
    'not ready: CHANGELOG.md has no newest section "## 1.2.4 - YYYY-MM-DD" with notes.',
    'not ready: CHANGELOG.md has unreleased notes: move them into the section of this version.',
    'not ready: package.json lacks repository.url, by which the registry finds what README.md links to: npm pkg set.',
    'not ready: Only GitHub Actions and GitLab CI can prove what was built: start the job there, or pass --without-provenance.',
    'Nothing was published: 8 of the checks failed.',
  ])
  expect(readdirSync(folder)).not.toContain('release')
})

it('does not publish a version twice', async () => {
  known.push('thing')
  expect(await release('--without-provenance')).toEqual({
    code: 1,
    out: 'not ready: The registry has thing@1.2.3 already: choose the next version.\nNothing was published: 1 of the checks failed.',
  })
})
