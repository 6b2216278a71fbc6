import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The runner and its cases; `.ci/run` installs this version with Go. */
const RUNNER = 'connectrpc.com/conformance/cmd/connectconformance@v1.0.5'

const FOLDER = 'test/programs/conformance'
const USAGE = `npm run conformance -- [option of the runner]…
  Runs the unary cases of connectrpc/conformance against the wire. The runner: go install ${RUNNER}`

const [first] = process.argv.slice(2)
if (first === '--help') {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
const found = ['connectconformance', join(homedir(), 'go/bin/connectconformance')].find((name) =>
  spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout?.includes('1.0.5'),
)
if (found === undefined) {
  process.stdout.write(`SKIPPED: connectconformance 1.0.5 is missing: go install ${RUNNER}\n`)
  process.exit(0)
}
const options = [
  ...['--mode', 'server', '--conf', `${FOLDER}/config.yaml`, '--known-failing', `@${FOLDER}/known-failing.txt`, '--parallel', '4'],
]
const server = [process.execPath, '.conformance/test/programs/conformance/server.js']
const { status } = spawnSync(found, [...options, '--max-servers', '2', ...process.argv.slice(2), '--', ...server], { stdio: 'inherit' })
process.exitCode = status ?? 1
