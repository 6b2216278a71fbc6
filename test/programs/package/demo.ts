import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../stage/clocks.ts'
import { userEnv } from './installed.ts'

export type Demo = Awaited<ReturnType<typeof startDemo>>

/** Runs `npx crosswalk demo` in a folder, on free ports. */
export async function startDemo(folder: string, ...flags: readonly string[]) {
  const ports = { CROSSWALK_PORT: '0', CROSSWALK_ADMIN_PORT: '0', CROSSWALK_SANDBOX_PORT: '0' }
  const options = { cwd: folder, env: { ...userEnv(), ...ports }, detached: true } as const
  const child = spawn('npx', ['--no-install', 'crosswalk', 'demo', ...flags], { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece
  })
  // npx starts the program through a shell. A signal to npx alone would leave it running.
  const stop = async () => {
    const closed = once(child, 'close')
    if (child.pid !== undefined) process.kill(-child.pid)
    await closed
  }
  const urlOf = (name: string) => new RegExp(`^ *${name} +(http://\\S+)$`, 'm').exec(out)?.[1] ?? ''
  try {
    await until(async () => (out.match(/^curl /gm) ?? []).length === 5, 'the demo prints its requests')
  } catch (error) {
    await stop()
    throw error
  }
  /** The printed requests to try. */
  const curls = out.split('\n').filter((line) => line.startsWith('curl '))
  return { proxy: urlOf('v1 proxy'), sandbox: urlOf('sandbox v2'), admin: urlOf('admin'), curls, stop }
}
