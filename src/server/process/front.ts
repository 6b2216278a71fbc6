import type { RequestListener } from 'node:http'
import type { Certificate } from '../../serve/listen/listener.ts'

/** What clients reach: the server for v1 and native requests, or the workers that share its port. */
export interface Front {
  listen(): Promise<unknown>
  /** Serves a request of a server of somebody else, after `ready`. It cannot throw. Absent for workers. */
  readonly handler?: RequestListener
  /** Resolves when requests can be served without a port. Absent for workers. */
  ready?(): Promise<void>
  /** Stops at once, without waiting for a request. */
  stop(): Promise<void>
  /** Leaves the balancer and lets requests finish within the times of the settings. If it `givesWay`, another process listens in its place. */
  retire(givesWay: boolean): Promise<void>
  /** Shows another certificate to whoever connects from now on. Absent for workers, which are replaced, and for plain text. */
  certify?(certificate: Certificate): void
  /** Forgets how it read requests, because settings changed. Workers do it themselves. */
  forget?(): void
  /** Closes its connections to the services. */
  release(): void
  readonly url: string
}
