import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { running } from '../running.ts'
import { framed, rawClient } from './raw-call.ts'

const { sandbox } = running()

test('tells HTTP/1.1 from HTTP/2 however few bytes arrive at once', async () => {
  const socket = connect(sandbox().port, '127.0.0.1').setNoDelay(true)
  for (const byte of 'POST /iam/v2/groups HTTP/1.1\r\nhost: x\r\n') {
    socket.write(byte)
    await new Promise(setImmediate)
  }
  socket.write('content-length: 0\r\nconnection: close\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('closes connections that never said a word, and idle ones of HTTP/2', async () => {
  const other = await startSandbox({ port: 0 })
  const silent = connect(other.port, '127.0.0.1')
  await once(silent, 'connect')
  await rawClient(() => other.url).send('/chainguard.platform.iam.Groups/List', framed(Buffer.alloc(0)))
  const closed = once(
    silent.on('error', () => {}),
    'close',
  )
  await other.close()
  await closed
})

test('loads nothing of gRPC before the first connection of HTTP/2', () => {
  const files = readdirSync('src/sandbox', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('grpc/'),
  )
  const texts = files.map((file) => readFileSync(`src/sandbox/${file}`, 'utf8'))
  expect(texts.flatMap((text) => text.match(/^import .*\/grpc\/.*/gm) ?? [])).toEqual([])
  expect(texts.filter((text) => text.includes("await import('../grpc/"))).toHaveLength(1)
})
