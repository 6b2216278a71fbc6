import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { startProxy } from '../../stage/proxy.ts'
import type { Fault } from '../fault.ts'
import { talk } from '../wire.ts'

const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const FIRST = answer('{"groups":[]}')
const STAGED = answer('{"groups":[{"uid":"aa","name":"staged"}]}')

/** The bytes of the second answer in the first packet. */
const SPLIT = 9

/** A service that answers its very first request twice: the second answer comes `ms` milliseconds later in two packets. */
async function startStaging(ms: number) {
  const sockets = new Set<Socket>()
  let requests = 0
  let staged = () => {}
  const whenStaged = new Promise<void>((resolve) => {
    staged = resolve
  })
  const stage = (socket: Socket) => {
    socket.write(STAGED.slice(0, SPLIT))
    setTimeout(() => {
      if (!socket.destroyed) socket.write(STAGED.slice(SPLIT))
      setTimeout(staged, 20)
    }, 5)
  }
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {
      requests += 1
      socket.write(FIRST)
      if (requests > 1) return
      if (ms === 0) stage(socket)
      else setTimeout(stage, ms, socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, whenStaged, close }
}

/** An attacker makes v2 send an extra answer. The next client must not receive it. */
async function stagedAnswer(path: string, ms: number): Promise<string> {
  const service = await startStaging(ms)
  const proxy = await startProxy({ 'upstream.v2': service.url, 'upstream.v1': service.url, 'upstream.connections': 1 })
  const ask = async (who: string) => {
    const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${who}\r\nconnection: close\r\n\r\n`
    const { answers } = await talk(proxy.url, head)
    return answers.some(({ body }) => body.includes('staged')) ? 'the staged one' : `${answers.map(({ status }) => status).join()}`
  }
  const said = [await ask('stranger')]
  await service.whenStaged
  said.push(await ask('victim'), await ask('victim'))
  await proxy.close()
  service.close()
  return said.join('; ')
}

const PATHS = ['/iam/v1/groups', '/registry/v1/vuln_reports', '/iam/v2/groups']

export const stagedAnswers: readonly Fault[] = PATHS.flatMap((path) =>
  [0, 1, 10, 1000].map((ms) => ({
    name: `a second answer to ${path}, after ${ms} ms and in two packets`,
    expected: '200; 200; 200',
    see: () => stagedAnswer(path, ms),
  })),
)
