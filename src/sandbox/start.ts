import type { AddressInfo } from 'node:net'
import { controlRoutes } from './control/control.ts'
import { createFaults } from './control/faults.ts'
import { createJournal } from './control/journal.ts'
import { type DataOption, openData } from './data/open.ts'
import { type DemoUser, demoTokens } from './data/users.ts'
import { announcing } from './events/announce.ts'
import { openEvents } from './events/open.ts'
import { createRouter } from './http/router.ts'
import { createServer } from './http/server.ts'
import { serviceRoutes } from './routes.ts'
import { createClock } from './world/clock.ts'
import { createWorld } from './world/create-world.ts'

export type SandboxOptions = {
  /** 127.0.0.1 unless given. */
  readonly host?: string | undefined
  /** 8090 unless given; 0 takes any free port. */
  readonly port?: number | undefined
  /** `demo` unless given. */
  readonly data?: DataOption | undefined
  /** How many tags the repo `large` of the data set `large` has; 10,000 unless given. */
  readonly tags?: number | undefined
  /** Waited before every answer, in milliseconds; 0 unless given. */
  readonly latencyMs?: number | undefined
  /** Which names native v1 writes; `specification` unless given. */
  readonly v1Dialect?: 'specification' | 'published' | undefined
  /** Settles the uids, codes and page tokens made while the sandbox runs; 1 unless given. */
  readonly seed?: number | undefined
  /** A fixed time or a source of it, in milliseconds since the epoch; the machine's clock unless given. */
  readonly now?: number | (() => number) | undefined
  /** The suffix of error domains, `iam.<serviceDomain>`; `chainguard.dev` unless given. */
  readonly serviceDomain?: string | undefined
  /** v2 takes plain-HTTP sinks on loopback hosts; false unless given. */
  readonly allowHttpSinks?: boolean | undefined
  /** A readme's change in v2 moves the update time of its repo; false unless given. */
  readonly readmeMovesRepo?: boolean | undefined
  /** Events are delivered to sinks off this machine too; false unless given. */
  readonly allowAnySink?: boolean | undefined
}

/** A sandbox that listens. */
export type Sandbox = {
  /** `http://127.0.0.1:8090`, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** The uid of `example.com`, or of the first organization of a data file. */
  readonly organization: string
  /** Bearer tokens by what they may do. */
  readonly tokens: Readonly<Record<DemoUser, string>>
  /** Stops accepting, cuts open connections and running delays short, gives up undelivered events, frees the port. */
  readonly close: () => Promise<void>
}

/**
 * Starts the sandbox: v2, native v1, the token issuer and the control endpoints over one store on one port. Rejects with a sentence
 * when the data is wrong or the port is taken.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = '127.0.0.1', port = 8090, data = 'demo', latencyMs = 0, seed = 1 } = options
  const {
    v1Dialect = 'specification',
    serviceDomain = 'chainguard.dev',
    allowHttpSinks = false,
    allowAnySink = false,
    readmeMovesRepo,
  } = options
  const clock = createClock(options.now)
  const dataset = await openData(data, clock.now().getTime(), options.tags)
  let url = ''
  const world = createWorld(dataset, clock, seed, { v1Dialect, serviceDomain, allowHttpSinks, readmeMovesRepo }, () => url)
  const journal = createJournal()
  const faults = createFaults()
  const events = openEvents(world, seed, allowAnySink)
  const router = createRouter([...announcing(serviceRoutes, events.publish), ...events.routes, ...controlRoutes(journal, faults)])
  const server = createServer({ world, router, journal, faults, latencyMs })
  await server.listen({ host, port })
  const address = server.server.address() as AddressInfo
  url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
  const close = async (): Promise<void> => {
    await events.close()
    await server.close()
  }
  return { url, port: address.port, organization: dataset.organization, tokens: demoTokens, close }
}
