import { type ReadLine, requestFrom, requestLine } from './line-parts.ts'

/** The formats `combined` and `common` of Apache, nginx and Traefik; `common` only lacks the end. A quote within quotes is written `\"`. */
const LINE = /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) /

/** Reads a line of an access log. A connection that sent no request has none. */
export const readLogLine: ReadLine = (line) => {
  const [found, address, user, time, request = '', status] = LINE.exec(line) ?? []
  if (found === undefined) return undefined
  return listed(requestFrom({ ...requestLine(request), status, time, client: user === '-' ? address : user }))
}

/** The default format of Envoy, and that of Istio, which has four values more after the status. */
const ENVOY = /^\[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{1,3}) \S+ (?:\S+ \S+ "[^"]*" )?\d+ \d+ \S+ \S+ "([^"]*)" /

/** Reads a line as Envoy writes it by default. The client is the first address of X-Forwarded-For. */
export const readEnvoyLine: ReadLine = (line) => {
  const [found, time, request = '', status, client] = ENVOY.exec(line) ?? []
  if (found === undefined) return undefined
  return listed(requestFrom({ ...requestLine(request), status, time, client }))
}

/** Type, time, load balancer, client, target, three durations, two status codes, two sizes, request. */
const ALB = /^(?:https?|h2|grpcs|wss?) (\S+) \S+ (\S+) \S+ \S+ \S+ \S+ (\d{3}|-) \S+ \d+ \d+ "([^"]*)" /

/** Reads a line of an Application Load Balancer of AWS. Its requests have absolute URLs. */
export const readAlbLine: ReadLine = (line) => {
  const [found, time, client, status, request = ''] = ALB.exec(line) ?? []
  if (found === undefined) return undefined
  return listed(requestFrom({ ...requestLine(request), status, time, client }))
}

/** A line whose request cannot be read counts as unreadable. */
function listed<T>(request: T | undefined): readonly T[] | undefined {
  return request === undefined ? undefined : [request]
}
