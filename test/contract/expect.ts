import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'
import { type Answer, type Api, type Case, map, type Shape, spell, spellingOf } from './target.ts'

/** A test of one value inside an expected shape, with its description for the report. */
export interface Matcher {
  readonly what: string
  readonly test: (value: unknown) => boolean
}

const IS_MATCHER = Symbol('matcher')

export function matcher(what: string, test: (value: unknown) => boolean): Matcher {
  // A matcher is a function, so that code that walks plain data does not take it for an expected object.
  return Object.assign((value: unknown) => test(value), { what, test, [IS_MATCHER]: true })
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3}){0,3}Z$/

const matching = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)

export const anything = matcher('anything', () => true)
export const text = matcher('a text', (value) => typeof value === 'string' && value !== '')
export const uid = matcher('a uid', matching(UID))
export const time = matcher('an RFC 3339 UTC time', matching(TIME))

export const list = matcher('a list', Array.isArray)

export function below(parent: string): Matcher {
  const child = (value: unknown) => typeof value === 'string' && value.slice(0, value.lastIndexOf('/')) === parent && UID.test(value)
  return matcher(`a uid directly below ${parent}`, child)
}

export function like(pattern: RegExp): Matcher {
  return matcher(`a text like ${pattern}`, matching(pattern))
}

/** Returns every difference between a value and the expected shape. Members are compared exactly, without missing or extra ones. */
export function mismatches(actual: unknown, expected: unknown, at = ''): string[] {
  if (isMatcher(expected)) return expected.test(actual) ? [] : [`${at || '/'}: ${show(actual)} is not ${expected.what}`]
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${at || '/'}: ${show(actual)} is not a list`]
    const rows = expected.flatMap((item, index) => (index in actual ? mismatches(actual[index], item, `${at}/${index}`) : []))
    return actual.length === expected.length ? rows : [...rows, `${at || '/'}: ${actual.length} rows instead of ${expected.length}`]
  }
  if (typeof expected !== 'object' || expected === null) {
    return Object.is(actual, expected) ? [] : [`${at || '/'}: ${show(actual)} instead of ${show(expected)}`]
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [`${at || '/'}: ${show(actual)} is not an object`]
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...names].flatMap((name) => member(actual as Members, expected as Members, name, `${at}/${name}`))
}

type Members = Readonly<Record<string, unknown>>

function member(actual: Members, expected: Members, name: string, at: string): string[] {
  if (!Object.hasOwn(expected, name)) return [`${at}: must not be there, but is ${show(actual[name])}`]
  if (!Object.hasOwn(actual, name)) return [`${at}: is missing`]
  return mismatches(actual[name], expected[name], at)
}

function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'function' && IS_MATCHER in value
}

function show(value: unknown): string {
  return inspect(value, { depth: 3, breakLength: 140 })
}

/** Expects HTTP 200 with exactly this body, written in proto names and compared in the API's dialect. Returns the body. */
export function ok(api: Api, answer: Answer, shape: Shape): Answer['body'] {
  if (answer.status !== 200) fail(answer, [`HTTP ${answer.status} instead of 200`])
  const wrong = mismatches(answer.body, spell(shape, spellingOf(api.dialect), api.dialect === 'specification'))
  if (wrong.length > 0) fail(answer, wrong)
  return answer.body
}

/** HTTP statuses of the codes that cases expect (facts §15). */
const STATUS: Readonly<Record<number, number>> = { 3: 400, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 12: 501, 16: 401 }

/** Expects an error body with this code, its HTTP status, a message (a text or a pattern) and a list of details. */
export function refused(answer: Answer, code: number, message?: string | RegExp): void {
  const wrong: string[] = []
  if (answer.status !== STATUS[code]) wrong.push(`HTTP ${answer.status} instead of ${STATUS[code]}`)
  const names = typeof answer.body === 'object' && answer.body !== null ? Object.keys(answer.body).sort().join() : ''
  if (names !== 'code,details,message') wrong.push(`members ${names || 'none'} instead of code, message, details`)
  if (answer.body?.code !== code) wrong.push(`code ${answer.body?.code} instead of ${code}`)
  if (!Array.isArray(answer.body?.details)) wrong.push('details is not a list')
  const said = String(answer.body?.message)
  if (typeof message === 'string' ? said !== message : message && !message.test(said))
    wrong.push(`message ${inspect(said)}, not ${message}`)
  if (wrong.length > 0) fail(answer, wrong)
}

/** Expects that the genuine v1 answers so and the proxied one refuses. */
export function refusedHere(api: Api, answer: Answer, shape: Shape, ...refusal: readonly [code: number, message?: string | RegExp]): void {
  if (api.side === 'genuine') ok(api, answer, shape)
  else refused(answer, ...refusal)
}

/** Compares any two values as shapes. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const wrong = mismatches(actual, expected)
  if (wrong.length > 0) throw new AssertionError({ message: `${what}: ${wrong.join('; ')}`, actual, expected })
}

/** Returns the `items` of a list that answered HTTP 200. */
export function items(answer: Answer): Answer['body'][] {
  if (answer.status !== 200 || !Array.isArray(answer.body?.items)) fail(answer, ['is not a list answer'])
  return answer.body.items
}

export function column(answer: Answer, name: string): unknown[] {
  return items(answer).map((row) => row[name])
}

function fail(answer: Answer, wrong: readonly string[]): never {
  throw new AssertionError({
    message: `${wrong.join('\n')}\nanswer: ${answer.status} ${inspect(answer.body, { depth: 6, breakLength: 140 })}`,
  })
}

type Body = Answer['body']
type Fields = Readonly<Record<string, unknown>>

/** Creates one resource, which must succeed, and deletes it after the case. */
async function made(api: Api, collection: string, parent: string, body: unknown): Promise<Body> {
  const answer = ok(api, await api.post(`${collection}/${parent}`, body), anything)
  api.later((owner) => owner.as(api.role).delete(`${collection}/${answer.id}`))
  return answer
}

export const folder = (api: Api, name = api.name(), parent = api.organization): Promise<Body> =>
  made(api, '/iam/v1/groups', parent, { name })

export const repo = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/registry/v1/repos', parent, { name: 'repo', ...fields })

export const tag = (api: Api, repoId: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/registry/v1/tags', repoId, { name: 'latest', digest: digest('a'), ...fields })

export const identity = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/identities', parent, { name: 'robot', claim_match: claimMatch, ...fields })

export const role = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/roles', parent, { name: 'reader', capabilities: ['groups.list', 'repo.list'], ...fields })

export const binding = (api: Api, parent: string, identityId: string, roleId: string): Promise<Body> =>
  made(api, '/iam/v1/rolebindings', parent, { identity: identityId, role: roleId })

export const invite = (api: Api, parent: string, roleId: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/group_invites', parent, { ttl: '3600s', role: roleId, ...fields })

/** Creates an identity provider at the organization itself: no other group may have one. */
export const provider = (api: Api, defaultRole: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/identityProviders', api.organization, { name: api.name(), default_role: defaultRole, oidc, ...fields })

export const mapping = (api: Api, providerId: string, externalGroup: string, roleId: string): Promise<Body> =>
  made(api, '/iam/v1/externalGroupRoleMappings', providerId, {
    external_group_id: externalGroup,
    role_uidp: roleId,
    scope: api.organization,
  })

export const subscription = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/events/v1/subscriptions', parent, { sink: 'https://localhost:9/hook', ...fields })

export async function association(api: Api, groupId: string, fields: Fields = {}): Promise<Body> {
  const path = `/iam/v1/account_associations/${groupId}`
  const answer = ok(api, await api.post(path, { name: 'cloud', amazon: { account: '123456789012' }, ...fields }), anything)
  api.later((owner) => owner.delete(path))
  return answer
}

export const claimMatch = { issuer: 'https://issuer.example', subject: 'robot' }

export const oidc = { issuer: 'https://login.example', client_id: 'client', client_secret: 'a secret', additional_scopes: ['email'] }

/** A JSON Web Key Set with one public key (RFC 7517 appendix A.1). */
export const publicKeys = JSON.stringify({
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      kid: '1',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    },
  ],
})

export function digest(letter: string): string {
  return `sha256:${letter.repeat(64)}`
}

export async function builtIn(api: Api, name: string): Promise<Body> {
  const rows: Body[] = ok(api, await api.get('/iam/v1/roles', { name, 'uidp.in_root': true }), { items: anything }).items
  const found = rows.find((row) => row.name === name)
  if (!found) throw new Error(`there is no built-in role ${name}`)
  return found
}

/** Returns every identity with a role of this name at the caller's organization. */
export async function holders(api: Api, roleName: string): Promise<string[]> {
  const rows: Body[] = ok(api, await api.get('/iam/v1/rolebindings'), { items: anything }).items
  return rows.filter((row) => row.role?.name === roleName && !row.group?.id.includes('/')).map((row) => row.identity)
}

/** The claim match that a service answers for `claimMatch`. */
export const shownClaimMatch = { ...claimMatch, claims: map({}), claim_patterns: map({}) }

type Special = Omit<Case, 'name' | 'operations' | 'run'>

type Shown<Run> = readonly [name: string, operations: readonly string[], ...(readonly [Run] | readonly [Special, Run])]

/** Writes a case: what it shows, by which operations, what is special about it, and how. */
export function shows(...[name, operations, ...rest]: Shown<Case['run']>): Case {
  const [special, run] = rest.length === 1 ? [{}, ...rest] : rest
  return { name, operations, ...special, run }
}

/** Writes a case that begins with a folder of its own. */
export function inFolder(...[name, operations, ...rest]: Shown<(api: Api, parent: string) => Promise<void>>): Case {
  const [special, run] = rest.length === 1 ? [{}, ...rest] : rest
  return shows(name, operations, special, async (api) => run(api, (await folder(api)).id))
}
