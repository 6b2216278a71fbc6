import fc, { type Arbitrary } from 'fast-check'
import { ApiError } from '../../src/errors.ts'
import {
  advisoriesList,
  advisory,
  advisoryEvent,
  advisoryEventList,
  document,
  subscription,
  vulnerabilityMetadataList,
} from '../../src/sandbox/v1/advisories.ts'
import { group, hydratedBinding, role, roleBinding } from '../../src/sandbox/v1/iam/access.ts'
import {
  acceptedTerms,
  accountAssociation,
  checkAnswer,
  checkRequest,
  eligibility,
  invite,
  inviteRequest,
  storedInvite,
  termsStatus,
} from '../../src/sandbox/v1/iam/groups.ts'
import {
  batchDeleteAnswer,
  batchDeleteRequest,
  externalGroupRoleMapping,
  identity,
  identityMetadata,
  identityProvider,
  scimMessages,
} from '../../src/sandbox/v1/iam/identities.ts'
import { artifactCount, artifactList, artifactVersion } from '../../src/sandbox/v1/libraries.ts'
import type { Member, Type, V1Message, V1Scalar, Vocabulary } from '../../src/sandbox/v1/message.ts'
import * as genuine from '../../src/sandbox/v1/message.ts'
import { decode, encodeResource } from '../../src/sandbox/v1/operation.ts'
import { eolTag, eolTagList } from '../../src/sandbox/v1/registry/eol.ts'
import { archs, repo, repoCount, size, tagsSummary } from '../../src/sandbox/v1/registry/repos.ts'
import { tag } from '../../src/sandbox/v1/registry/tags.ts'
import { fieldAt } from '../../src/tables/compile.ts'
import type { Message } from '../../src/tables/resource.ts'
import { DIALECTS } from '../../src/tables/uid.ts'
import { operations, same } from './forms.ts'
import * as view from './genuine-views.ts'

type Json = Record<string, unknown>

/** v1 values that v2 has no name for. Nothing behind a proxy can hold them (facts §18). */
const V1_ALONE = /^ECOSYSTEM_(JAVASCRIPT|DOTNET|GO|.*ATHENA)|^TYPE_UBUNTU$/

const words = fc.string({ minLength: 1, maxLength: 6 })
const int32 = fc.integer({ min: 1, max: 2 ** 31 - 1 })
/** The members of type bytes, which the sandbox keeps as text. Another text than base64 is not a value of theirs. */
const BYTES: ReadonlySet<string> = new Set(['findings'])
const base64 = fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64'))
/** UTC with milliseconds, the only form that every side leaves unchanged. */
const times = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01T00:00:00Z') }).map((date) => date.toISOString())

/** Values other than zero. A zero means unset to a store, so the drawn form leaves the member out. */
const SCALARS: Readonly<Record<V1Scalar, Arbitrary<unknown>>> = {
  string: words,
  bool: fc.constant(true),
  int32,
  uint32: int32,
  int64: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
  timestamp: times,
  duration: fc.integer({ min: 1, max: 1e6 }).map((seconds) => `${seconds}s`),
}

/** Draws a stored, v2-shaped row for a message of the genuine v1: members set and unset, enum names that v1 does not know. */
export function rows(message: V1Message): Arbitrary<Json> {
  return drawn({
    members: message.members.filter(({ flow }) => flow !== 'in'),
    name: ({ from }) => from,
    names: ({ toV1 }) => [...toV1.keys()].filter((name) => !V1_ALONE.test(name)).concat('A_NAME_THAT_IS_NEW'),
    message: rows,
  })
}

/** Draws a v1 body with any of the message's members, in either spelling. */
export function bodies(message: V1Message): Arbitrary<Json> {
  const spelled = (name: Drawing['name']): Arbitrary<Json> => drawn({ members: message.members, name, names: written, message: bodies })
  return fc.oneof(
    spelled(({ name }) => name),
    spelled(({ json }) => json),
  )
}

/** True if a value is none of messages, lists and maps alone. */
export const holdsAny = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(holdsAny) : value !== undefined

/** Returns each member that a body may set, at any depth, with a body that sets it alone, to another value than zero. */
export function alone(message: V1Message, above = ''): readonly (readonly [path: string, body: Arbitrary<Json>])[] {
  const drawing: Drawing = { members: message.members, name: ({ name }) => name, names: written, message: bodies }
  return message.members
    .filter(({ flow }) => flow !== 'out')
    .flatMap((member): readonly (readonly [string, Arbitrary<Json>])[] => {
      const { name, type, shape } = member
      const path = above + name
      if (type.kind === 'message' && shape === 'one')
        return alone(type.message, `${path}.`).map(([inner, body]) => [inner, body.map((value) => ({ [name]: value }))])
      return [
        [
          path,
          shaped(member, drawing)
            .filter(holdsAny)
            .map((value) => ({ [name]: value })),
        ],
      ]
    })
}

/** Returns the names and numbers of an enum that a body may hold. */
function written({ toStored, byNumber }: Vocabulary): readonly (string | number)[] {
  const names = [...toStored].filter(([, stored]) => !V1_ALONE.test(stored)).map(([v1]) => v1)
  return [...names, ...[...byNumber].filter(([, v1]) => names.includes(v1)).map(([number]) => number)]
}

interface Drawing {
  readonly members: readonly Member[]
  readonly name: (member: Member) => string
  readonly names: (values: Vocabulary) => readonly (string | number)[]
  readonly message: (message: V1Message) => Arbitrary<Json>
}

function drawn(drawing: Drawing): Arbitrary<Json> {
  const { members, name } = drawing
  const groups = [...new Set(members.flatMap(({ presence }) => presence ?? []))]
  const siblings = (group: string) => members.filter(({ presence }) => presence === group)
  const chosen = fc.record(Object.fromEntries(groups.map((group) => [group, fc.constantFrom(undefined, ...siblings(group))])))
  const values = fc.tuple(...members.map((member) => fc.option(shaped(member, drawing), { nil: undefined })))
  return fc.tuple(chosen, values).map(([turn, all]) =>
    Object.fromEntries(
      members.flatMap((member, at): [string, unknown][] => {
        const absent = all[at] === undefined || (member.presence !== undefined && turn[member.presence] !== member)
        return absent ? [] : [[name(member), all[at]]]
      }),
    ),
  )
}

function shaped({ name, type, shape }: Member, drawing: Drawing): Arbitrary<unknown> {
  if (BYTES.has(name)) return base64
  if (shape === 'list' && type.kind === 'enum') return fc.shuffledSubarray([...drawing.names(type.values)])
  const one = draw(type, drawing)
  if (shape === 'list') return fc.array(one, { maxLength: 3 })
  return shape === 'map' ? fc.dictionary(words, one, { maxKeys: 3, noNullPrototype: true }) : one
}

function draw(type: Type, { names, message }: Drawing): Arbitrary<unknown> {
  if (type.kind === 'message') return message(type.message)
  return type.kind === 'enum' ? fc.constantFrom(...names(type.values)) : SCALARS[type.scalar]
}

/** A table and the message of the genuine v1 that shows the same data. */
export interface Pair extends view.View {
  readonly table: Message
  readonly genuine: genuine.V1Message
}

type Part = 'request' | 'answer' | 'envelope'
type Row = readonly [operation: string, part: Part, message: genuine.V1Message, view?: view.View]

/** Returns a genuine list message without its rows, and the message of the rows. */
const envelopeOf = (list: genuine.V1Message): genuine.V1Message => ({
  ...list,
  members: list.members.filter(({ name }) => name !== 'items'),
})
const rowOf = ({ members }: genuine.V1Message): genuine.V1Message => {
  const rows = members.find(({ name }) => name === 'items')?.type
  if (rows?.kind !== 'message') throw new Error('the list has no rows')
  return rows.message
}

/** Adds members to a message that only v1 knows. They are shown, but never set behind a proxy. */
const neverSet = (message: genuine.V1Message, ...names: readonly string[]): genuine.V1Message => ({
  ...message,
  members: message.members.map((member) => (names.includes(member.name) ? { ...member, flow: 'in' as const } : member)),
})

const event = neverSet(advisoryEvent, 'component_location_changed')
const advisoryWithoutMoves: genuine.V1Message = {
  ...advisory,
  members: advisory.members.map((member) => (member.name === 'events' ? genuine.list(genuine.object(event)('events')) : member)),
}

const scim = (verb: keyof typeof scimMessages, operation: string): readonly Row[] => [
  [operation, 'request', scimMessages[verb].request],
  [operation, 'answer', scimMessages[verb].answer],
]

const ROWS: readonly Row[] = [
  ['iam.groups.list', 'answer', group],
  ['iam.groups.lookup', 'answer', genuine.message('lookup', [genuine.object(group)('group')])],
  ['iam.groups.check_eligibility', 'answer', eligibility],
  ['iam.identities.list', 'answer', identity],
  ['iam.identities.lookup', 'answer', identity],
  ['iam.identity_metadata.update', 'request', identityMetadata, view.metadata],
  ['iam.roles.list', 'answer', role],
  ['iam.role_bindings.list', 'answer', hydratedBinding, view.hydratedBinding],
  ['iam.role_bindings.create', 'answer', roleBinding, view.writtenBinding],
  ['iam.role_bindings.create', 'request', roleBinding],
  ['iam.identity_providers.list', 'answer', identityProvider],
  ...scim('generateScimToken', 'iam.identity_providers.generate_scim_token'),
  ...scim('regenerateScimToken', 'iam.identity_providers.regenerate_scim_token'),
  ...scim('setScimEnabled', 'iam.identity_providers.set_scim_enabled'),
  ['iam.identity_providers.revoke_scim_token', 'answer', scimMessages.revokeScimToken.answer],
  ['iam.account_associations.list', 'answer', accountAssociation],
  ['iam.account_associations.check', 'request', checkRequest],
  ['iam.account_associations.check', 'answer', checkAnswer],
  ['iam.group_invites.list', 'answer', storedInvite],
  ['iam.group_invites.create', 'request', inviteRequest],
  ['iam.group_invites.create', 'answer', invite],
  ['iam.external_group_role_mappings.list', 'answer', externalGroupRoleMapping],
  ['iam.external_group_role_mappings.batch_delete', 'request', batchDeleteRequest],
  ['iam.external_group_role_mappings.batch_delete', 'answer', batchDeleteAnswer],
  ['iam.terms.list', 'answer', termsStatus],
  ['iam.terms.accept', 'request', acceptedTerms],
  ['iam.terms.accept', 'answer', acceptedTerms],
  ['registry.repos.list', 'answer', repo, view.repo],
  ['registry.tags.list', 'answer', tag],
  ['registry.images.architectures', 'answer', archs],
  ['registry.images.size', 'answer', size],
  ['registry.repo_tags_summary.get', 'answer', tagsSummary],
  ['registry.repo_count_by_source.get', 'answer', repoCount],
  [
    'registry.eol_tags.list',
    'answer',
    neverSet(eolTag, 'main_package_name', 'main_package_version', 'grace_status', 'grace_period_expiry_date'),
    view.eolTag,
  ],
  ['registry.eol_tags.list', 'envelope', envelopeOf(eolTagList)],
  ['vulnerabilities.advisories.list', 'answer', advisoryWithoutMoves],
  ['vulnerabilities.advisories.list', 'envelope', envelopeOf(advisoriesList), view.advisories],
  ['vulnerabilities.advisory_events.list', 'answer', event],
  ['vulnerabilities.advisory_events.list', 'envelope', envelopeOf(advisoryEventList), view.advisoryEvents],
  ['libraries.artifacts.list', 'answer', rowOf(artifactList)],
  ['libraries.artifacts.list', 'envelope', envelopeOf(artifactList), view.total],
  [
    'libraries.artifacts.list_versions',
    'answer',
    neverSet(artifactVersion, 'source_type', 'malware_scanned', 'malware_malicious', 'upstream_published_date'),
  ],
  ['libraries.artifacts.count', 'answer', artifactCount, view.totals],
  ['advisory.documents.list', 'answer', document],
  ['advisory.vulnerability_metadata.list', 'answer', rowOf(vulnerabilityMetadataList)],
  ['advisory.vulnerability_metadata.list', 'envelope', envelopeOf(vulnerabilityMetadataList)],
  ['events.subscriptions.list', 'answer', subscription],
]

/** Tables without a genuine message, and why. */
export const UNPAIRED: readonly (readonly [operation: string, part: Part, because: string])[] = [
  ['iam.role_bindings.create_batch', 'request', 'the genuine body is a bare list'],
  ['iam.role_bindings.create_batch', 'answer', 'the genuine answer is built row by row'],
  ['advisory.resolved_vulns.list', 'answer', 'no service can answer it over HTTP (facts §7)'],
  ['ping.ping.ping', 'answer', 'one word'],
]

/** The genuine v1 was written from the facts and does not use the tables. Where both agree, neither has agreed with itself. */
export const pairs: readonly Pair[] = ROWS.map(([id, part, message, more]) => ({ table: tableOf(id, part), genuine: message, ...more }))

export function tableOf(id: string, part: Part): Message {
  const table = operations.find((operation) => operation.id === id)?.[part]
  if (!table) throw new Error(`${id} has no ${part}`)
  return table
}

type AgreementJson = Readonly<Record<string, unknown>>

/** A property that must hold for every drawn value. */
export interface Agreement {
  readonly what: string
  readonly drawn: Arbitrary<AgreementJson>
  readonly check: (value: AgreementJson) => void
}

const asItIs = (row: AgreementJson) => row

/** What a table and its genuine twin must do alike: show a row in both dialects and, if v1 writes it, read a body. */
export function agreements({
  table,
  genuine,
  completed = asItIs,
  inV2 = asItIs,
  toV2 = asItIs,
  asked = asItIs,
}: Pair): readonly Agreement[] {
  const shows: Agreement = {
    what: 'is shown as the genuine v1 shows it',
    drawn: rows(genuine).map(completed),
    check: (row) => {
      for (const dialect of DIALECTS) same(table.show[dialect](inV2(row)), encodeResource(row, genuine, dialect), dialect)
    },
  }
  const reads: Agreement = {
    what: 'is read as the genuine v1 reads it',
    drawn: bodies(genuine).map(asked),
    check: (body) => {
      const stored = decode(body, genuine)
      same(table.read(body, stored), toV2(stored), 'read')
    },
  }
  // A plan writes the members that belong to another resource.
  const ownMembers = alone(genuine).filter(([path]) => fieldAt(table.fields, path.split('.'))?.access !== 'elsewhere')
  const keeps = ownMembers.map(
    ([path, drawn]): Agreement => ({
      what: `either writes or refuses ${path}`,
      drawn,
      check: (body) => same(isWritten(table.read, body, path), true, path),
    }),
  )
  const shown = operations.some(({ answer, envelope }) => answer === table || envelope === table)
  const written = operations.some(({ request }) => request === table)
  return [...(shown ? [shows] : []), ...(written ? [reads, ...keeps] : [])]
}

/** True if v2 gets the only member of a body, or the client an error that names it. */
function isWritten(read: Message['read'], body: AgreementJson, path: string): boolean {
  try {
    return holdsAny(read(body))
  } catch (error) {
    return error instanceof ApiError && error.message.startsWith(`Invalid argument: ${path}: `)
  }
}
