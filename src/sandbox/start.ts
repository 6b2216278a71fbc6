/**
 * The sandbox: a v2 service and a genuine v1 over the same data, to try and to test everything on one machine.
 *
 * 1. `data/` makes the rows, and `world/` holds them: tables, clock, random numbers.
 * 2. `http/` and `grpc/` take requests; `auth/` says who asks and what that caller may see.
 * 3. `v2/` answers as the specification says, each resource as data.
 * 4. `v1/` answers as v1 did, written from the reference alone.
 * 5. `events/` sends what a write announces; `control.ts` injects faults.
 *
 * It imports nothing of the rest, so that a wrong guess there cannot agree with itself here.
 */
import type { AddressInfo } from 'node:net'
import { stsRoutes } from './auth/sts.ts'
import { controlRoutes, createFaults, createJournal } from './control.ts'
import { type Dataset, type DemoUser, demoTokens, fillStore, tokenRights } from './data/data.ts'
import { type DataOption, openData } from './data/open.ts'
import { announcing, openEvents } from './events/events.ts'
import { createRouter, type Route } from './http/route.ts'
import { createServer } from './http/server.ts'
import { v1Routes } from './v1/routes.ts'
import { advisoryFeedRoutes } from './v2/advisory.ts'
import { eventRoutes, pingRoutes } from './v2/events.ts'
import { iamRoutes } from './v2/iam/routes.ts'
import { libraryRoutes } from './v2/libraries.ts'
import { registryRoutes } from './v2/registry/tags.ts'
import { vulnerabilityRoutes } from './v2/vulnerabilities.ts'
import { type Clock, createClock, createRandom, createStore, type World, type WorldOptions } from './world/store.ts'

/** Creates a world that holds `dataset`. `seed` determines every later uid, code and token. */
export const createWorld = (dataset: Dataset, clock: Clock, seed: number, options: WorldOptions, baseUrl: () => string): World => {
  const store = createStore()
  fillStore(store, dataset.rows)
  const random = createRandom(seed)
  return { store, clock, random, options, tokens: tokenRights, baseUrl, pageKey: random.hex(32) }
}

/** Every endpoint of the service: v2, genuine v1 and the token issuer. */
export const serviceRoutes: readonly Route[] = [
  ...iamRoutes,
  ...registryRoutes,
  ...vulnerabilityRoutes,
  ...libraryRoutes,
  ...advisoryFeedRoutes,
  ...eventRoutes,
  ...pingRoutes,
  ...v1Routes,
  ...stsRoutes,
]

/** Where the sandbox listens if nothing else is said. */
export const SANDBOX_HOST = '127.0.0.1'
export const SANDBOX_PORT = 8090

export type SandboxOptions = {
  /** The default is 127.0.0.1. */
  readonly host?: string | undefined
  /** The default is 8090; 0 takes any free port. */
  readonly port?: number | undefined
  /** The default is `demo`. */
  readonly data?: DataOption | undefined
  /** The number of tags in the repo `large` of the data set `large`. The default is 10,000. */
  readonly tags?: number | undefined
  /** Milliseconds of delay before every answer. The default is 0. */
  readonly latencyMs?: number | undefined
  /** The names that genuine v1 writes. The default is `specification`. */
  readonly v1Dialect?: WorldOptions['v1Dialect'] | undefined
  /** Determines the uids, codes and page tokens made while the sandbox runs. The default is 1. */
  readonly seed?: number | undefined
  /** A fixed time or a source of time, in milliseconds since the epoch. The default is the machine's clock. */
  readonly now?: number | (() => number) | undefined
  /** The suffix of error domains, `iam.<serviceDomain>`. The default is `chainguard.dev`. */
  readonly serviceDomain?: string | undefined
  /** v2 accepts plain-HTTP sinks on loopback hosts. The default is false. */
  readonly allowHttpSinks?: boolean | undefined
  /** A change of a readme in v2 moves the update time of its repo. The default is false. */
  readonly readmeMovesRepo?: boolean | undefined
  /** Events are delivered to sinks off this machine too. The default is false. */
  readonly allowAnySink?: boolean | undefined
}

/** A running sandbox. */
export type Sandbox = {
  /** `http://127.0.0.1:8090`, without a trailing slash. */
  readonly url: string
  readonly port: number
  /** The uid of `example.com`, or of the first organization of a data file. */
  readonly organization: string
  /** Bearer tokens by demo user. */
  readonly tokens: Readonly<Record<DemoUser, string>>
  /** Stops accepting, cuts open connections, ends running delays, drops undelivered events and frees the port. */
  readonly close: () => Promise<void>
}

/**
 * Starts the sandbox: v2, genuine v1, the token issuer and the control endpoints over one store on one port. Rejects with a sentence if the
 * data is wrong or the port is taken.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = SANDBOX_HOST, port = SANDBOX_PORT, data = 'demo', latencyMs = 0, seed = 1 } = options
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
