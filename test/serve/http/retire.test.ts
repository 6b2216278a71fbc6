import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createHosted } from '../../../src/serve/http/retire.ts'
import { until } from '../../stage/clocks.ts'

it('requests of another server have drained when the last one is answered, and not before', async () => {
  const open: ServerResponse[] = []
  const hosted = createHosted(
    (_, response) => void open.push(response),
    () => {},
  )
  const server = http.createServer(hosted.handler).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answers = ['/a', '/b'].map((path) => fetch(url + path))
  await until(async () => open.length === 2)
  let isDrained = false
  const drained = hosted.drain(600_000).then(() => {
    isDrained = true
  })
  open[0]?.end()
  await Promise.race(answers)
  expect(isDrained).toBe(false)
  open[1]?.end()
  await drained
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
  expect((await fetch(url)).status).toBe(503)
})
