import { errorIn } from '../../say.ts'
import { type Given, type OpenAskers, overHttp1, overHttp2, overWebSocket } from './askers.ts'

/** A way of an upstream's head to a client. */
export interface Way {
  readonly name: string
  readonly path: string
  /** The path of the service that the proxy requests; the upstream answers its body. */
  readonly asked: string
  /** True if methods other than GET occur. */
  readonly isAnyMethod: boolean
  /** True for a handshake, whose expected status is 101. */
  readonly switches: boolean
  readonly open: OpenAskers
  /** Returns the mistake in an answer: the proxy itself may only answer errors. */
  readonly wrongWith: (given: Given) => string | undefined
  /** True if a v1 service also stands behind the proxy. */
  readonly hasV1: boolean
}

/** A relayed answer, which may have any valid status. */
function relayed({ status, isBroken }: Given): string | undefined {
  return isBroken || (status >= 200 && status <= 599) ? undefined : `status: ${status}`
}

/** An answer that the proxy translated from v2. */
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

/** An operation that v1 answers, with or without a comparison with v2: `V1_MODES`. */
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
