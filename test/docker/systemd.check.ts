import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configWith } from '../../src/app/config/config.ts'
import { hasProgram, printed } from './programs.ts'

const UNIT = 'docker/systemd/crosswalk.service'
const text = readFileSync(UNIT, 'utf8')
const directive = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? ''

/** The flags of V8 that the image starts Node with. */
const imageFlags = /ENTRYPOINT (\[.*\])/.exec(readFileSync('docker/Dockerfile', 'utf8'))?.[1] ?? '[]'

describe.runIf(hasProgram('systemd-analyze', '--version'))('systemd', () => {
  it('accepts the unit without a warning', () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const here = text.replace('/usr/bin/node', process.execPath).replaceAll('/opt/crosswalk', process.cwd())
    const path = join(folder, 'crosswalk.service')
    writeFileSync(path, here)
    expect(printed('sh', '-c', `systemd-analyze verify --man=no ${path} 2>&1`)).toBe('')
    writeFileSync(path, here.replace('KillMode=mixed', 'KillMode=never'))
    expect(printed('sh', '-c', `systemd-analyze verify --man=no ${path} 2>&1`)).toContain('never')
  })

  it('finds little that the process could do beyond its task', () => {
    expect(printed('systemd-analyze', 'security', '--offline=yes', '--threshold=15', '--no-pager', UNIT)).toContain('Overall exposure')
  })
})

describe('the unit', () => {
  it('starts Node as the image does', () => {
    const argv = JSON.parse(imageFlags) as string[]
    expect(directive('ExecStart')).toBe(['/usr/bin/node', ...argv.slice(1), 'serve'].join(' '))
  })

  it('gives a process that stops the time it may take, and files for every connection', () => {
    const config = configWith({})
    const longest = config['limits.drainMs'] + config['limits.lingerMs'] + config['limits.shutdownMs']
    expect(Number(directive('TimeoutStopSec')) * 1000).toBeGreaterThan(longest)
    expect(Number(directive('LimitNOFILE'))).toBeGreaterThan(config['limits.clientConnections'] + config['upstream.connections'])
    expect(directive('ExecReload')).toBe('/bin/kill -HUP $MAINPID')
  })
})
