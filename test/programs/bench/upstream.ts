import net, { type AddressInfo, type Socket } from 'node:net'
import { PAGE_ROWS, pageAt, RESOURCE, V1_ANSWER } from './rows.ts'

/**
 * The fixed v2 service, a process of its own: `node upstream.js <rows> <latency ms>`.
 * It reads only the first line of a request and answers from memory, so that the proxy in front of it is measured.
 */
const [rows = 0, latency = 0] = process.argv.slice(2).map(Number)
const pages = new Map<string, Buffer>()
const resource = answer(RESOURCE)
const v1Answer = answer(V1_ANSWER)
const readme = answer('{"content":"# A readme"}')

function answer(body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

function answerTo(line: string): Buffer {
  if (line.includes('/readme')) return readme
  if (line.includes('/v1/')) return v1Answer
  if (!line.includes('page_size=')) return resource
  const known = pages.get(line)
  if (known) return known
  const query = new URLSearchParams(line.slice(line.indexOf('?') + 1, line.lastIndexOf(' ')))
  const skip = Number(query.get('skip') ?? 0)
  const start = Number(query.get('page_token')?.slice(1) ?? 0) + skip
  const page = answer(pageAt(start, Number(query.get('page_size') ?? PAGE_ROWS), rows, skip))
  pages.set(line, page)
  return page
}

/** Node's timers are late by up to two milliseconds. So the last ones pass in turns of the event loop, and every page takes the same time. */
function afterLatency(done: () => void): void {
  const due = performance.now() + latency
  const turn = () => {
    if (performance.now() < due) setImmediate(turn)
    else done()
  }
  setTimeout(turn, latency - 2)
}

function serve(socket: Socket): void {
  let pending = ''
  socket.setEncoding('latin1').setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (text: string) => {
    pending += text
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      const bytes = answerTo(pending.slice(0, pending.indexOf('\r\n')))
      pending = pending.slice(end + 4)
      if (latency === 0) socket.write(bytes)
      else afterLatency(() => socket.writable && socket.write(bytes))
    }
  })
}

const server = net.createServer(serve).listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
