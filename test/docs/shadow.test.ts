import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../stage/clocks.ts'
import { hasProgram, PATH } from '../stage/programs.ts'
import { freePort } from '../stage/upstream.ts'
import { commandsOf } from './pages.ts'

/** The shipped files, as somebody has them who wrote addresses into them and gives Crosswalk every caller. Resolves with the port of nginx. */
async function filesFor(folder: string): Promise<number> {
  const port = await freePort()
  const changes: readonly (readonly [file: string, edits: readonly (readonly [shipped: RegExp, here: string])[]])[] = [
    ['upstreams.conf', [[/server (crosswalk-[12]|v1):/g, 'server 127.0.0.1:']]],
    ['routing.conf', [[/^ *50% .*$/gm, '100% crosswalk;']]],
    [
      'nginx.conf',
      [
        [/\/tmp\/nginx/g, join(folder, 'nginx')],
        [/listen 8000/g, `listen 127.0.0.1:${port}`],
        [/listen 8001/g, `listen 127.0.0.1:${await freePort()}`],
      ],
    ],
  ]
  mkdirSync(join(folder, 'docker'))
  cpSync('docker/nginx', join(folder, 'docker/nginx'), { recursive: true })
  for (const [file, edits] of changes) {
    const path = join(folder, 'docker/nginx', file)
    const shipped = readFileSync(path, 'utf8')
    for (const [text] of edits) expect(shipped).toMatch(text)
    writeFileSync(
      path,
      edits.reduce((text, [from, to]) => text.replaceAll(from, to), shipped),
    )
  }
  return port
}

it.skipIf(!hasProgram('nginx'))('shows lines for nginx that test, start and reload the shipped files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shadow-nginx-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await filesFor(folder)
  const [test = '', start = '', reload = '', ...others] = commandsOf('docs/start/shadow.md').filter((line) => line.startsWith('nginx '))
  expect([test, reload, others]).toEqual([expect.stringMatching(/ -t$/), expect.stringMatching(/ -s reload$/), []])
  const env = { ...process.env, PATH }
  // The lines of the page go through a shell, as a reader types them. nginx opens its output by name, which the sockets of Node do not allow.
  const run = (line: string) => execFileSync('sh', ['-c', `${line} 2>&1 | cat`], { cwd: folder, env, encoding: 'utf8', timeout: 20_000 })
  expect(run(test)).toContain('test is successful')
  const terminal = join(folder, 'terminal')
  const file = openSync(terminal, 'a')
  const nginx = spawn('sh', ['-c', `exec ${start}`], { cwd: folder, env, stdio: ['ignore', file, 'ignore'] })
  closeSync(file)
  onTestFinished(async () => {
    nginx.kill()
    if (nginx.exitCode === null) await once(nginx, 'exit')
  })
  const isSentTo = (pool: string) => async () => {
    await fetch(`http://127.0.0.1:${port}/iam/v1/groups`).catch(() => undefined)
    return new RegExp(`"GET /iam/v1/groups" \\d{3} ${pool} `).test(readFileSync(terminal, 'utf8'))
  }
  await until(isSentTo('crosswalk'), 'nginx sends a caller to Crosswalk')
  const routing = join(folder, 'docker/nginx/routing.conf')
  writeFileSync(routing, readFileSync(routing, 'utf8').replace(/^.*%.*$/gm, ''))
  expect(run(reload)).toContain('signal process started')
  await until(isSentTo('v1'), 'nginx sends the caller to v1 after the reload, and still tells it')
})
