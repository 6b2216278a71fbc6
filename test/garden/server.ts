import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../stage/free-port.ts'
import { until } from '../stage/until.ts'
import type { Finding } from './judge.ts'

/** Where a server listens, its upstream, and the directory of its files. */
export interface Place {
  readonly directory: string
  readonly port: number
  /** A port of this machine. */
  readonly upstream: number
}

/** One of Debian's HTTP servers as a reverse proxy. It keeps its connections, and itself refuses paths that end in `/refused`. */
export interface Kind {
  readonly name: string
  readonly program: string
  /** Contents of its files, by their path below the directory. */
  readonly files: (place: Place) => Readonly<Record<string, string>>
  /** Directories that it requires. */
  readonly directories?: readonly string[]
  /** Faults of its own, although the same row shows another fault without Crosswalk. */
  readonly own?: readonly Own[]
  /** Arguments that keep it in the foreground. */
  readonly argv: (place: Place) => readonly string[]
}

/** A fault of a server that shows only behind another one. */
export interface Own {
  readonly finding: Finding
  /** Names of rows. */
  readonly rows: RegExp
  readonly because: string
}

export interface Running {
  readonly port: number
  stop(): Promise<void>
}

/** False, with a printed reason, if the program is missing. Debian keeps servers in directories that only root searches for programs. */
export function isInstalled({ program }: Pick<Kind, 'program'>): boolean {
  try {
    execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    console.warn(`SKIPPED: ${program} is not installed`)
    return false
  }
}

/** Starts a server in front of the given port and waits until it answers. */
export async function startServer(kind: Kind, upstream: number): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), `crosswalk-${kind.name}-`))
  // Some servers drop root's rights and must still be able to read their files.
  chmodSync(directory, 0o755)
  const place: Place = { directory, port: await freePort(), upstream }
  for (const path of kind.directories ?? []) mkdirSync(join(directory, path), { recursive: true })
  for (const [path, text] of Object.entries(kind.files(place))) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const child = spawn(kind.program, [...kind.argv(place)], { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: directory })
  const said = heardFrom(child)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const stop = async () => {
    if (child.exitCode === null) end()
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const answers = async () => (await fetch(`http://127.0.0.1:${place.port}/iam/v2/refused`)).status >= 400
    await Promise.race([until(answers, `${kind.name} answers`), ended.then(() => Promise.reject(new Error('it ended')))])
  } catch (error) {
    await stop()
    throw new Error(`${kind.name} did not start:\n${said()}`, { cause: error })
  }
  return { port: place.port, stop }
}

/** Returns the last output of a process. */
function heardFrom(child: ChildProcess): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000)
    })
  }
  return () => said
}
