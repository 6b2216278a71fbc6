import { gzipSync } from 'node:zlib'
import { type Behaviour, listOf, serving } from '../world.ts'

const html =
  (status: number): Behaviour =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '1' }).end('<html>')

const WELL: Behaviour = serving(20)

/** The callers whose answers v2 may delay. Only its caller shares a call, so the times of all others are the proxy's own. */
export const PATIENT = 'patient-'

/** Delays of answers, for patient callers only. */
const DELAYS: readonly Behaviour[] = [(request, response, body) => void setTimeout(WELL, 200, request, response, body), () => {}]

/** Occasional faults, all equally frequent. */
const FAULTS: readonly Behaviour[] = [
  ({ socket }) => void socket.resetAndDestroy(),
  (_, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('{"groups":[', () => response.destroy())
  },
  html(500),
  html(503),
  html(429),
  (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(listOf(20))),
  (_, response) => void response.end(listOf(20).slice(0, 99)),
  (_, response) => void response.end(listOf(200, 'again')),
]

/** A v2 and v1 service that fails one request in `oneIn`. */
export function faulty(random: () => number, oneIn: number): Behaviour {
  return (request, response, body) => {
    const faults = request.headers.authorization?.startsWith(PATIENT) ? [...DELAYS, ...FAULTS] : FAULTS
    const fault = random() * oneIn < 1 ? faults[Math.floor(random() * faults.length)] : undefined
    const behave = fault ?? WELL
    behave(request, response, body)
  }
}
