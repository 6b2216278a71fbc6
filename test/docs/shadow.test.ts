import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hasNginx } from '../balancer/nginx.ts'
import { freePort } from '../stage/free-port.ts'
import { until } from '../stage/until.ts'
import { commandsOf } from './console.ts'

/** The shipped files, as somebody has them who wrote addresses into them. */
async function filesFor(folder: string): Promise<void> {
  const changes: readonly (readonly [file: string, edits: readonly (readonly [shipped: RegExp, here: string])[]])[] = [
    ['upstreams.conf', [[/server (crosswalk-[12]|v1):/g, 'server 127.0.0.1:']]],
    [
      'nginx.conf',
      [
        [/\/tmp\/nginx/g, join(folder, 'nginx')],
        [/\/dev\/stdout/g, join(folder, 'access.log')],
        [/listen 8000/g, `listen 127.0.0.1:${await freePort()}`],
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
}

it.skipIf(!hasNginx())('shows lines for nginx that test the shipped files, and start and reload the same server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shadow-nginx-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await filesFor(folder)
  const [test = '', start = '', reload = '', ...others] = commandsOf('docs/start/shadow.md').filter((line) => line.startsWith('nginx '))
  expect([test, reload, others]).toEqual([expect.stringMatching(/ -t$/), expect.stringMatching(/ -s reload$/), []])
  // The lines of the page go through a shell, as a reader types them.
  const run = (line: string) => execFileSync('sh', ['-c', `${line} 2>&1`], { cwd: folder, encoding: 'utf8', timeout: 20_000 })
  expect(run(test)).toContain('test is successful')
  const pid = () => (existsSync(join(folder, 'nginx.pid')) ? Number(readFileSync(join(folder, 'nginx.pid'), 'utf8')) : 0)
  onTestFinished(async () => {
    run(`${start} -s stop || true`)
    await until(async () => pid() === 0, 'nginx ends')
  })
  // It runs in the background, and would keep the pipes of this process open.
  execFileSync('sh', ['-c', start], { cwd: folder, stdio: 'ignore', timeout: 20_000 })
  await until(async () => pid() > 0, 'nginx writes the number of its process')
  expect(run(reload)).toContain('signal process started')
})
