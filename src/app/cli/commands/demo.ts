import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ALL_V2 } from '../../../migrate/modes/rules.ts'
import { SANDBOX_HOST, SANDBOX_PORT, type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/start.ts'
import { openMetricsExport } from '../../../serve/watch/metrics-export.ts'
import { openTracing } from '../../../serve/watch/spans.ts'
import { addressOf, whySamePort } from '../../config/contradictions.ts'
import { type Config, SETTING_KEYS } from '../../config/settings.ts'
import { checked } from '../../server/migration.ts'
import { openFleet } from '../../server/process.ts'
import { createServer as createProxyServer, type Server } from '../../server/server.ts'
import { type Command, endWith, MISUSED } from '../command.ts'
import { configFlags, configOf, configPath, sandboxFlags, sandboxOptions } from '../flags.ts'
import { openLog, stay, watchCertificates, watchConfig } from '../stay.ts'

/** The most bytes of an event that are shown. The rest is read and dropped. */
const MOST = 4096

/** Starts a receiver of events on any free port; its `url` is the sink of a subscription. `show` gets one line for each event: its type, its subject and its content. */
export async function startReceiver(show: (line: string) => void) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    let bytes = 0
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        if (bytes < MOST) parts.push(part)
        bytes += part.length
      }
    } catch {
      // The sender hung up: there is no event to show.
      return
    }
    const { 'ce-type': type, 'ce-subject': subject } = request.headers
    if (type !== undefined) show(`event ${type}, subject ${subject}: ${Buffer.concat(parts).toString('utf8', 0, MOST)}`)
    response.writeHead(type === undefined ? 400 : 204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Runs the sandbox and the proxy in one process: the shortest way to see v1 served from v2. */
export const demo: Command = {
  usage: 'demo',
  summary: 'Starts the sandbox and the proxy in front of it, and prints requests to try.',
  flags: { ...sandboxFlags, ...configFlags(SETTING_KEYS.filter((key) => !['tables', 'upstream.v2', 'workers'].includes(key))) },
  stays: { heeds: 'SIGHUP' },
  async run(flags, _, io) {
    const given = configOf(flags, io)
    const options = sandboxOptions(flags, io)
    const same = whySamePortAs(options, given)
    if (same !== undefined) return endWith(io, MISUSED, same)
    const receiver = options.allowHttpSinks ? await startReceiver(io.out) : undefined
    const open: { close(): Promise<void> }[] = receiver ? [receiver] : []
    try {
      const sandbox = await startSandbox({ ...options, v1Dialect: given['v1.dialect'] })
      open.unshift(sandbox)
      const config = withUpstreams(given, sandbox.url)
      const { log, release } = openLog(config, io)
      const [tracing, exportMetrics] = await Promise.all([openTracing(io.env, log), openMetricsExport(io.env)])
      const tables = await io.tables()
      const known = checked(config, tables)
      const join = await openFleet(config)
      const server = createProxyServer(config, tables, { known, log, tracing, exportMetrics, join, file: configPath(flags, io) })
      await server.listen()
      for (const line of welcome(server, sandbox, receiver)) io.out(line)
      release()
      return await stay(server, log, io, [watchConfig(flags, io, server, given), watchCertificates(config, known.tls, io, server.certify)])
    } finally {
      for (const one of open) await one.close()
    }
  },
}

/** Returns one sentence if the sandbox would listen where the proxy does. */
function whySamePortAs({ host = SANDBOX_HOST, port = SANDBOX_PORT }: SandboxOptions, config: Config): string | undefined {
  const sandbox = { host, port, name: 'sandbox-port' }
  return whySamePort(sandbox, addressOf(config, 'listen')) ?? whySamePort(sandbox, addressOf(config, 'admin'))
}

/** Makes the sandbox the v2 service. If modes are given, its genuine v1 is the v1 service. */
function withUpstreams(config: Config, sandbox: string): Config {
  const v1 = config['upstream.v1'] ?? (config.modes === ALL_V2 ? undefined : sandbox)
  return { ...config, 'upstream.v2': sandbox, 'upstream.v1': v1 }
}

/** The addresses, a token, the organization and five lines to paste; one more if a receiver waits for events. */
function welcome(
  { url, adminUrl }: Server,
  { url: sandboxUrl, organization, tokens }: Sandbox,
  sink?: { readonly url: string },
): readonly string[] {
  const curl = (rest: string, path: string) => `curl -sS -H 'Authorization: Bearer ${tokens.owner}' ${rest}'${url}${path}'`
  return [
    '',
    `  v1 proxy      ${url}`,
    `  sandbox v2    ${sandboxUrl}`,
    `  admin         ${adminUrl}`,
    `  report        ${adminUrl}/report`,
    ...(sink ? [`  events        ${sink.url}, shown here once the first of these lines has subscribed to them`] : []),
    `  token         ${tokens.owner}`,
    `  organization  ${organization}`,
    '',
    ...(sink ? [curl(`-X POST -d '{"sink":"${sink.url}"}' `, `/events/v1/subscriptions/${organization}`)] : []),
    curl('', '/iam/v1/groups'),
    curl('', `/iam/v1/rolebindings?uidp.descendants_of=${organization}`),
    curl('', `/registry/v1/repos?uidp.descendants_of=${organization}&name=nginx`),
    curl('', `/registry/v1/eoltags?uidp.descendants_of=${organization}&page_size=3`),
    curl(`-X POST -d '{"name":"hello","description":"made through v1"}' `, `/registry/v1/repos/${organization}`),
    '',
  ]
}
