import { invalidArgument, wrongMember } from '../../src/errors.ts'
import {
  ask,
  create,
  type Enrich,
  type Env,
  type Fields,
  findAll,
  firstOf,
  isObject,
  type JsonObject,
  knownBy,
  list,
  lookUp,
  made,
  mayBeWithheld,
  message,
  type Operation,
  object,
  objects,
  ok,
  operation,
  type Plan,
  parentOf,
  parentUid,
  type Reference,
  type Resource,
  readOnly,
  remove,
  replace,
  resource,
  restIn,
  scope,
  text,
  time,
  uidOf,
  type V1Request,
  v1FieldName,
  WITHHELD,
  withheld,
} from '../../src/tables/language.ts'
import { group } from './groups.ts'
import { identity } from './identities.ts'
import { role } from './roles.ts'

/** The members of a group or role that a binding of v2 shows. */
const IN_BINDING = ['id', 'name', 'description']

/** A row of v1's list: group and role in full, the identity as a uid with its claims beside it (facts §3.5). */
const binding = resource('role binding', {
  v2: '/iam/v2/roleBindings',
  plural: 'roleBindings',
  stamps: ['group_id'],
  fields: {
    id: readOnly('uid'),
    group: readOnly(object('group', knownBy(['id'], restIn('GET /iam/v2/groups/{uid}', IN_BINDING, group.fields)))),
    identity: readOnly('identity.uid'),
    role: readOnly(object('role', knownBy(['id'], restIn('GET /iam/v2/roles/{uid}', IN_BINDING, role.fields)))),
    email: readOnly('identity.email'),
    claim_match_issuer: readOnly('identity.issuer'),
    claim_match_subject: readOnly('identity.subject'),
    created_at: readOnly(time('createTime')),
    email_unverified: made('emailUnverified of GET /iam/v2/identities/{uid}', mayBeWithheld(readOnly('identity.emailUnverified'))),
  },
})

/** v1's answer to a write: uids only. */
const plain = message(
  'written role binding',
  {
    id: readOnly('uid'),
    identity: readOnly(text(firstOf('identity.uid', 'identityUid'))),
    group: readOnly(text(firstOf('group.uid', parentOf('uid')))),
    role: readOnly(text(firstOf('role.uid', 'roleUid'))),
  },
  ['created_at', 'group_id'],
)

/** v1's request of a write; the group is the parent and cannot change. */
const written = message('role binding request', { identity: text('identityUid'), role: text('roleUid') })

/** The gateway binds the bare array to this member, and errors name it (facts §3.5). */
const batch = message('role binding batch request', {
  role_bindings: objects('requests', { identity: text('roleBinding.identityUid'), role: text('roleBinding.roleUid') }),
})
/** The row of the list shows group and role in full. A binding is deleted with its identity (semantics §3.2). */
const read = { shownAs: { group: 'group.id', role: 'role.id' }, goesWith: 'identity' }
const created = message('role binding batch', { role_bindings: objects('roleBindings', plain.shown) })
const BATCH_CREATE = `${binding.v2}:batchCreate`

/** The withheld members of each part of a binding: if v2 shows the part in it, and if not. */
const EMAIL = { emailUnverified: WITHHELD }
const UNTOLD = {
  group: [withheld(knownBy(IN_BINDING, group.fields)), withheld(knownBy(['id'], group.fields))],
  role: [withheld(knownBy(IN_BINDING, role.fields)), withheld(knownBy(['id'], role.fields))],
  identity: [EMAIL, EMAIL],
} as const

/** The v2 members of each part from which a row of v1 is made. */
const MADE_FROM = {
  group: unset(sourcesOf(group.fields)),
  role: unset(sourcesOf(role.fields)),
  identity: unset(
    sourcesOf(binding.fields).flatMap((source) => (source.startsWith('identity.') ? [source.slice('identity.'.length)] : [])),
  ),
}

/** A part of a v2 row that v1 showed in full: what v2 shows of it, where the rest is, and the replacement of a hidden part. */
interface Part {
  readonly member: keyof typeof UNTOLD
  readonly shown: JsonObject
  readonly whole: Reference
  readonly untold: JsonObject
}

/** What rows refer to, by uid. */
type Known = Readonly<Record<Part['member'], Map<string, Reference>>>

/** v2 shows only names. Limits, kind, status, capabilities and the unverified email come from the group, role and identity themselves. */
const hydrated: Enrich = function* (rows) {
  const known: Known = { group: new Map(), role: new Map(), identity: new Map() }
  const parts = rows.map((row) => partsOf(row, known))
  const found = yield* findAll(Object.values(known).flatMap((ofMember) => [...ofMember.values()]))
  return rows.map((row, at) => {
    const whole: Record<string, unknown> = { ...row }
    for (const { member, shown, whole: of, untold } of parts[at] ?? [])
      whole[member] = completed(shown, of.uid, found.get(of.path) ?? untold, MADE_FROM[member])
    return whole
  })
}

/**
 * Adds the members that v2 shows elsewhere. Of a page, hundreds of parts are completed: to spread what is found of each would take as long
 * as to parse it.
 */
function completed(shown: JsonObject, uid: string, from: JsonObject, members: JsonObject): JsonObject {
  const whole: Record<string, unknown> = { ...members }
  for (const name in members) whole[name] = shown[name] === undefined ? from[name] : shown[name]
  whole.uid = uid
  return whole
}

export const roleBindingOperations: readonly Operation[] = [
  list('iam.role_bindings.list', 'GET /iam/v1/rolebindings', binding, {
    query: scope,
    byId: 'id',
    enrich: hydrated,
    calls: [
      ...[group, role, identity].map(({ v2 }) => `GET ${v2}`),
      `GET ${group.v2}/{group}`,
      `GET ${role.v2}/{role}`,
      `GET ${identity.v2}/{identity}`,
    ],
  }),
  operation('iam.role_bindings.create_batch', 'POST /iam/v1/rolebindings/batch/{parent=**}', {
    calls: [`POST ${BATCH_CREATE}`],
    request: batch,
    bodyIs: 'role_bindings',
    answer: created,
    readBack: { resource: binding, named: { rows: 'role_bindings' }, ...read },
    // v2 may name a member of a request without its index in the batch.
    fieldName: (path) => written.v1Names.get(path) ?? v1FieldName({}, batch, created)(path),
    plan: createBatch,
  }),
  create('iam.role_bindings.create', 'POST /iam/v1/rolebindings/{parent=**}', binding, { request: written, answer: plain, ...read }),
  replace('iam.role_bindings.update', 'PUT /iam/v1/rolebindings/{id=**}', binding, { request: written, answer: plain, ...read }),
  remove('iam.role_bindings.delete', 'DELETE /iam/v1/rolebindings/{id=**}', binding),
]

/** The characters of a parent in a batch, however often: far more than 25 uids have, and as many as a body. */
const MOST_REPEATED = 1_000_000

/** The v1 body is a bare JSON array. v2 requires the parent beside it and in every request. All or nothing, at most 25 (facts §3.5). */
function* createBatch({ params: { parent = '' }, body }: V1Request, env: Env): Plan {
  const { requests = [] } = batch.read({ role_bindings: body }) as { requests?: readonly JsonObject[] }
  if (requests.length * parent.length > MOST_REPEATED) {
    throw invalidArgument({ field: 'role_bindings', description: 'must be fewer below a parent with so long an id' })
  }
  const inParent = { parent, requests: requests.map((request) => ({ parent, ...request })) }
  return ok(created.show[env.dialect](yield* ask({ method: 'POST', path: BATCH_CREATE, query: [], body: inParent }, created)))
}

/** Adds to `known` what the row refers to. Rows often share a group or a role. */
function partsOf(row: JsonObject, known: Known): readonly Part[] {
  const parts: Part[] = []
  const add = (member: Part['member'], of: Resource, elseUid: unknown) => {
    const value = row[member] ?? undefined
    if (value !== undefined && !isObject(value)) throw wrongMember(member, 'must be an object')
    if (value?.uid !== undefined && typeof value.uid !== 'string') throw wrongMember(`${member}.uid`, 'must be a string')
    const shown = value ?? {}
    const uid = uidOf(shown) || (elseUid ?? '')
    if (typeof uid !== 'string') throw wrongMember(`${member}Uid`, 'must be a string')
    if (uid === '') return
    const reference = known[member].get(uid) ?? lookUp(of, uid)
    known[member].set(uid, reference)
    parts.push({ member, shown, whole: reference, untold: UNTOLD[member][value ? 0 : 1] })
  }
  add('group', group, parentUid(uidOf(row)))
  add('role', role, row.roleUid)
  add('identity', identity, row.identityUid)
  return parts
}

function sourcesOf(fields: Fields): readonly string[] {
  return Object.values(fields).flatMap(({ source }) => (typeof source === 'string' ? [source] : []))
}

/** Returns an object that has these members, none of them set. */
function unset(members: readonly string[]): JsonObject {
  return Object.fromEntries(members.map((member) => [member, undefined]))
}
