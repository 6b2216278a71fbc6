import { connect2, fetch2 } from '../listen/fetch2.ts'
import { talk, type WireAnswer } from './wire.ts'

/** A request whose bytes matter; no client normalises it. */
export interface Asked {
  readonly method?: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** Returns the answers to one request over HTTP/1.1 and over HTTP/2. */
export async function askBoth(url: string, asked: Asked): Promise<readonly [WireAnswer | undefined, WireAnswer]> {
  return [await ask1(url, asked), await ask2(url, asked)]
}

const NO_BODY = Buffer.alloc(0)

async function ask1(url: string, { method = 'GET', target, headers = {}, body = NO_BODY }: Asked): Promise<WireAnswer | undefined> {
  const sent = { host: 'x', connection: 'close', 'content-length': String(body.length), ...headers }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const { answers } = await talk(url, (socket) => socket.write(Buffer.concat([head, body])))
  return answers[0]
}

/** The same over HTTP/2 only. */
export async function ask2(url: string, { method = 'GET', target, headers, body }: Asked): Promise<WireAnswer> {
  const session = await connect2(url)
  try {
    const answer = await fetch2(session, target, { ':method': method, ...headers }, body)
    const pairs = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
    return { status: answer.status, headers: new Map(pairs), body: answer.body, broken: false }
  } finally {
    session.close()
  }
}
