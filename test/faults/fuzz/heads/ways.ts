import { errorIn } from '../../say.ts'
import { type Given, type OpenAskers, overHttp1, overHttp2, overWebSocket } from './askers.ts'

/** How a head of the upstream gets to a client. */
export interface Way {
  readonly name: string
  readonly path: string
  /** A path of the service that is asked then; its body is what the upstream answers. */
  readonly asked: string
  /** Not GET alone. */
  readonly isAnyMethod: boolean
  /** It is a handshake, and 101 is what it asks for. */
  readonly switches: boolean
  readonly open: OpenAskers
  /** What the proxy says by itself is never more than an error, or this is wrong with it. */
  readonly wrongWith: (given: Given) => string | undefined
  /** A v1 service stands behind the proxy, too. */
  readonly hasV1: boolean
}

/** Relayed: the status may be anything that an answer can have. */
function relayed({ status, isBroken }: Given): string | undefined {
  return isBroken || (status >= 200 && status <= 599) ? undefined : `status: ${status}`
}

/** Made by the proxy from what v2 says. */
function translated(given: Given): string | undefined {
  const { status, type, body, isBroken } = given
  if (isBroken) return undefined
  if (type !== 'application/json') return `type: ${type}`
  if (status >= 400) return errorIn(body, type) === undefined ? `no v1 error: ${body}` : undefined
  return status === 200 ? itemsIn(body) : `status: ${status}`
}

function itemsIn(body: string): string | undefined {
  try {
    const { items } = JSON.parse(body) as { items?: unknown }
    return Array.isArray(items) ? undefined : `no list: ${body}`
  } catch {
    return `not JSON: ${body}`
  }
}

const switched = (given: Given) => (given.status === 101 ? undefined : relayed(given))

/** An operation that v1 answers, and one that v1 answers and v2 is compared with: `V1_MODES`. */
const PASSED = '/iam/v1/roles'
const COMPARED = '/iam/v1/groups'

export const V1_MODES = { default: 'v1', rules: [{ operations: 'iam.groups.*', mode: 'diff-v1' }] }

type Rest = Omit<Way, 'name' | 'open' | 'switches'>

const both = (name: string, rest: Rest): readonly Way[] => [
  { name: `${name}, HTTP/1.1`, open: overHttp1, switches: false, ...rest },
  { name: `${name}, HTTP/2`, open: overHttp2, switches: false, ...rest },
]

const handshake = { path: '/iam/v2/socket', asked: '/iam/v2/socket', isAnyMethod: false, switches: true, hasV1: false }

/** Every carrier of HTTP/1.1 heads, to clients of both protocols. */
export const WAYS: readonly Way[] = [
  ...both('native', { path: '/iam/v2/groups', asked: '/iam/v2/groups', isAnyMethod: true, wrongWith: relayed, hasV1: false }),
  ...both('translated', { path: '/iam/v1/groups', asked: '/iam/v2/groups', isAnyMethod: false, wrongWith: translated, hasV1: false }),
  { name: 'WebSocket', open: overWebSocket, wrongWith: switched, ...handshake },
  ...both('passed to v1', { path: PASSED, asked: PASSED, isAnyMethod: true, wrongWith: relayed, hasV1: true }),
  ...both('compared, answered by v1', { path: COMPARED, asked: COMPARED, isAnyMethod: false, wrongWith: relayed, hasV1: true }),
]
