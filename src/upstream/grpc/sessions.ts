import type { OutgoingHttpHeaders } from 'node:http2'
import { connect, type Sent, type Session, type SessionSettings } from './session.ts'

export interface SessionsSettings extends SessionSettings {
  /** The maximum number of connections. */
  readonly connections: number
}

/** What is known of a client's call when its stream opens. */
interface Waiting {
  readonly closed: boolean
  /** No message follows. */
  readonly endAfterHeaders: boolean
}

/** All HTTP/2 connections to the service. */
export interface Sessions {
  /** Opens a stream for a client's call; undefined if that has ended meanwhile. Rejects if no connection is possible; nothing was sent then. */
  request(headers: OutgoingHttpHeaders, client: Waiting): Promise<Sent | undefined>
  close(): void
}

/**
 * Streams share a connection up to the number that the service allows on it; then another connection opens.
 * When no more connections are allowed, streams wait on the emptiest one.
 */
export function createSessions(settings: SessionsSettings): Sessions {
  const all = new Set<Session>()

  const open = (): Session => {
    const session = connect(settings, () => all.delete(session))
    all.add(session)
    return session
  }
  const choose = (): Session => {
    const [only] = all
    // Most often one connection has room for all streams.
    if (only && all.size === 1 && only.isOpen() && only.room() > 0) return only
    const [emptiest, ...others] = [...all].filter((session) => session.isOpen()).sort((a, b) => b.room() - a.room())
    if (!emptiest) return open()
    const fullestWithRoom = [emptiest, ...others].findLast((session) => session.room() > 0)
    return fullestWithRoom ?? (others.length + 1 < settings.connections ? open() : emptiest)
  }
  return {
    async request(headers, client) {
      let session = choose()
      while (!session.isReady()) {
        await session.ready
        session = choose()
      }
      return client.closed ? undefined : session.send(headers, client.endAfterHeaders)
    },
    close() {
      for (const session of all) session.destroy()
    },
  }
}
