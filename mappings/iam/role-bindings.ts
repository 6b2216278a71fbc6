import {
  ask,
  create,
  type Enrich,
  type Env,
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

/** A part of a v2 row that v1 showed in full: v2's members of it, where the rest is, and the replacement of a hidden part. */
interface Part {
  readonly member: string
  readonly shown: JsonObject
  readonly whole: Reference
  readonly untold: JsonObject
}

/** v2 shows only names. Limits, kind, status, capabilities and the unverified email come from the group, role and identity themselves. */
const hydrated: Enrich = function* (rows) {
  const parts = rows.map(partsOf)
  const found = yield* findAll(parts.flat().map(({ whole }) => whole))
  return rows.map((row, at) => {
    const told = (parts[at] ?? []).map(({ member, shown, whole, untold }) => [member, { ...(found.get(whole.path) ?? untold), ...shown }])
    return { ...row, ...Object.fromEntries(told) }
  })
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

/** The v1 body is a bare JSON array. v2 requires the parent beside it and in every request. All or nothing, at most 25 (facts §3.5). */
function* createBatch({ params: { parent }, body }: V1Request, env: Env): Plan {
  const { requests = [] } = batch.read({ role_bindings: body }) as { requests?: readonly JsonObject[] }
  const inParent = { parent, requests: requests.map((request) => ({ parent, ...request })) }
  return ok(created.show[env.dialect](yield* ask({ method: 'POST', path: BATCH_CREATE, query: [], body: inParent }, created)))
}

function partsOf(row: JsonObject): readonly Part[] {
  return [
    ...part('group', group, row.group, parentUid(uidOf(row))),
    ...part('role', role, row.role, row.roleUid),
    ...part('identity', identity, row.identity, row.identityUid),
  ]
}

function part(member: keyof typeof UNTOLD, of: Resource, value: unknown, elseUid: unknown): readonly Part[] {
  const shown = isObject(value) ? value : {}
  const untold = UNTOLD[member][isObject(value) ? 0 : 1]
  const uid = uidOf(shown) || elseUid
  return typeof uid === 'string' && uid !== '' ? [{ member, shown: { ...shown, uid }, whole: lookUp(of, uid), untold }] : []
}
