import net from 'node:net'
import { type Lane, openLane } from '../fuzz/lanes.ts'
import { errorIn } from '../say.ts'
import type { WireAnswer } from '../wire.ts'
import { PATIENT } from './upstream.ts'

const PARENT = 'a'.repeat(40)
const get = (path: string) => ({ text: `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: NAME\r\n\r\n`, isHead: false })

/** One for each carrier. */
const REQUESTS = [
  get('/iam/v1/groups'),
  get('/iam/v1/groups?limit=10&offset=5'),
  get(`/iam/v1/groups?id=${PARENT}`),
  get('/iam/v2/groups'),
  get('/registry/v1/vuln_reports'),
  {
    text: `POST /iam/v1/groups/${PARENT} HTTP/1.1\r\nhost: x\r\nauthorization: NAME\r\ncontent-length: 12\r\n\r\n{"name":"x"}`,
    isHead: false,
  },
]
const UNTOUCHED = new Set([3, 4])
/** Of 50 callers. */
const PATIENT_CALLERS = 10

export interface Clients {
  /** Sends a request, or goes away in the middle of one; never rejects. */
  act(): Promise<void>
  /** Answers by status; unexpected ones are listed by themselves. */
  readonly statuses: Readonly<Record<string, number>>
  readonly wrong: readonly string[]
  /** Milliseconds of each answer to a caller whom v2 does not delay. */
  readonly times: readonly number[]
  close(): void
}

/** Clients on kept connections. Some leave in the middle, send garbage, or do not read. */
export function createClients(url: string, random: () => number): Clients {
  const idle: Lane[] = []
  const all: Lane[] = []
  const statuses: Record<string, number> = {}
  const wrong: string[] = []
  const times: number[] = []
  const ask = async () => {
    const at = Math.floor(random() * REQUESTS.length)
    const { text, isHead } = REQUESTS[at] ?? get('/')
    const lane = idle.pop() ?? openLane(url)
    if (!all.includes(lane)) all.push(lane)
    const begun = performance.now()
    const number = Math.floor(random() * 50)
    const isPatient = number < PATIENT_CALLERS
    const caller = `${isPatient ? PATIENT : 'caller-'}${number}`
    const answer = await lane.ask({ text: text.replace('NAME', caller), isHead })
    if (!isPatient) times.push(performance.now() - begun)
    idle.push(lane)
    const status = answer ? String(answer.status) : 'broken off'
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!UNTOUCHED.has(at) && !isRight(answer)) wrong.push(`${text.split('\r\n')[0]}: ${answer ? answer.body.slice(0, 200) : 'no answer'}`)
  }
  return {
    act: () => (random() < 0.02 ? rudely(url, random) : ask()),
    statuses,
    wrong,
    times,
    close() {
      for (const lane of all) lane.close()
    },
  }
}

function isRight(answer: WireAnswer | undefined): boolean {
  if (!answer) return false
  if (answer.status === 200) return typeof JSON.parse(answer.body) === 'object'
  return errorIn(answer.body, answer.headers.get('content-type')) !== undefined
}

const RUDE = [
  'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n',
  'GET /iam/v1/gro',
  REQUESTS.at(-1)?.text.slice(0, -5) ?? '',
  'nonsense\r\n\r\n',
]

/** Connects, sends something, and leaves a moment later. */
function rudely(url: string, random: () => number): Promise<void> {
  const { hostname, port } = new URL(url)
  const bytes = RUDE[Math.floor(random() * RUDE.length)] ?? ''
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(bytes)
      setTimeout(() => socket.resetAndDestroy(), random() * 50)
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve())
  })
}
