import net from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const ROWS = 200
/** Answers that no socket takes at once: some 7 MB, in one pipeline. */
const ASKED = 50

/** A page in which every row holds the name that was asked for, so that rows of another page can be told. */
function pageOf(name: string): string {
  const tags = Array.from({ length: ROWS }, (_, at) => ({ uid: `a/b/${at}`, name, digest: name.repeat(20) }))
  return JSON.stringify({ tags, totalCount: String(ROWS) })
}

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(pageOf(new URL(url ?? '', 'http://v2').searchParams.get('name') ?? ''))
  })
  proxy = await startProxy({ 'upstream.v2': v2.url })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

const nameOf = (who: string, nth: number) => `${who}-${String(nth).padStart(20, '0')}`
const pathOf = (name: string) => `/registry/v1/tags?limit=${ROWS}&name=${name}`

function expectPage(text: string, name: string): void {
  const { items } = JSON.parse(text) as { items: readonly { id: string; name: string; digest: string }[] }
  expect(items).toHaveLength(ROWS)
  for (const [at, row] of items.entries()) expect(row).toMatchObject({ id: `a/b/${at}`, name, digest: name.repeat(20) })
}

it('uses no memory of an answer again before the client has taken it', async () => {
  const { hostname, port } = new URL(proxy.url)
  const slow = net.connect(Number(port), hostname)
  slow.pause()
  const names = Array.from({ length: ASKED }, (_, nth) => nameOf('slow', nth))
  slow.write(names.map((name) => `GET ${pathOf(name)} HTTP/1.1\r\nhost: crosswalk\r\n\r\n`).join(''))
  const quick = async (who: number) => {
    for (let nth = 0; nth < ASKED; nth += 1) {
      const name = nameOf(`quick${who}`, nth)
      expectPage(await (await fetch(proxy.url + pathOf(name))).text(), name)
    }
  }
  await Promise.all([0, 1].map(quick))
  slow.resume()
  const answers = await readAnswers(slow, ASKED)
  slow.destroy()
  expect(answers).toHaveLength(ASKED)
  for (const [nth, answer] of answers.entries()) expectPage(answer, names[nth] ?? '')
})

it('uses memory again after a client left in the middle of an answer', async () => {
  const { hostname, port } = new URL(proxy.url)
  const leaving = Array.from({ length: 20 }, (_, who) => {
    const socket = net.connect(Number(port), hostname)
    for (let nth = 0; nth < 20; nth += 1) socket.write(`GET ${pathOf(nameOf(`gone${who}`, nth))} HTTP/1.1\r\nhost: crosswalk\r\n\r\n`)
    return new Promise<void>((gone) => socket.once('data', () => socket.destroy()).once('close', () => gone()))
  })
  await Promise.all(leaving)
  for (let nth = 0; nth < 50; nth += 1) {
    const name = nameOf('stays', nth)
    expectPage(await (await fetch(proxy.url + pathOf(name))).text(), name)
  }
})

/** Reads the bodies of so many answers with a length from a connection. */
async function readAnswers(socket: net.Socket, count: number): Promise<readonly string[]> {
  const bodies: string[] = []
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of socket) {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(rest.toString('latin1', 0, Math.max(0, end)))?.[1])
      if (end < 0 || rest.length < end + 4 + length) break
      bodies.push(rest.toString('utf8', end + 4, end + 4 + length))
      rest = rest.subarray(end + 4 + length)
    }
    if (bodies.length === count) break
  }
  return bodies
}
