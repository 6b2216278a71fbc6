import { requireCapability } from '../../../auth/rights/authorize.ts'
import { type Ask, callerOf, ok, type Route } from '../../../http/route.ts'
import { SORTABLE, type Sortable, sortRows } from '../../../lists/order.ts'
import { pageOf, readPaging } from '../../../lists/paging.ts'
import { decode } from '../../../messages/decode.ts'
import { fill, listOf, type Message, outputText, outputTime, text } from '../../../messages/message.ts'
import { render } from '../../../messages/render.ts'
import { invalidArgument, invalidField, notFound } from '../../../status.ts'
import { timestamp } from '../../../world/clock.ts'
import type { TermsAcceptance } from '../../../world/iam-model.ts'
import { lineage } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { uidParam } from '../../reads.ts'

/** The documents that can be accepted (semantics §3.9). */
const DOCUMENTS: ReadonlySet<string> = new Set(['guardener-tos.v1', 'sfdpa.v1', 'skills-tos.v1'])

const acceptanceMessage: Message = {
  name: 'chainguard.platform.iam.v2.TermsAcceptance',
  fields: { docId: outputText, acceptedBy: outputText, orgUid: outputText, createTime: outputTime },
}

const acceptMessage: Message = { name: 'chainguard.platform.iam.v2.AcceptTermsRequest', fields: { documentIds: listOf(text()) } }

/** One acceptance for each document and group, so a second one keeps the first. */
const keyOf = (group: string, docId: string): string => `${group}/${docId}`

/** Records that `acceptedBy` accepts `documentIds` for `group`. INVALID_ARGUMENT for an empty list or an unknown id. */
export const acceptTerms = (world: World, group: string, documentIds: readonly string[], acceptedBy: string): void => {
  if (documentIds.length === 0) invalidField('document_ids', 'is required')
  const unknown = documentIds.flatMap((docId, index) =>
    DOCUMENTS.has(docId) ? [] : [{ field: `document_ids[${index}]`, description: `unknown document ${JSON.stringify(docId)}` }],
  )
  if (unknown.length > 0) invalidArgument(unknown)
  const table = world.store.termsAcceptances
  for (const docId of documentIds) {
    const uid = keyOf(group, docId)
    if (!table.get(uid)) table.put({ uid, docId, acceptedBy, orgUid: group, createTime: timestamp(world.clock) })
  }
}

/** The acceptances for a group and for the groups above it, which hold for the group too (semantics §3.9). */
export const acceptancesFor = (world: World, group: string): readonly TermsAcceptance[] =>
  world.store.termsAcceptances.values().filter(({ orgUid }) => lineage(group).includes(orgUid))

const scopeOf = (ask: Ask, world: World, needed: 'terms.accept' | 'terms.list'): string => {
  const group = uidParam(ask, 'group')
  requireCapability(world, callerOf(ask), needed, group)
  return world.store.groups.get(group)?.uid ?? notFound('iam.Group', group)
}

const sortable: Sortable<TermsAcceptance> = { ...SORTABLE, doc_id: ({ docId }) => docId }

export const termsRoutes: readonly Route[] = [
  {
    method: 'POST',
    template: '/iam/v2/terms/{group=**}',
    auth: 'required',
    handle: (ask, world) => {
      const group = scopeOf(ask, world, 'terms.accept')
      const { documentIds } = fill(acceptMessage, decode(acceptMessage, ask.body)) as { readonly documentIds: readonly string[] }
      acceptTerms(world, group, documentIds, callerOf(ask).identityUid)
      return ok({ group, documentIds })
    },
  },
  {
    method: 'GET',
    template: '/iam/v2/terms/{group=**}',
    auth: 'required',
    handle: (ask, world) => {
      const group = scopeOf(ask, world, 'terms.list')
      const paging = readPaging(ask.query, world, { sortable, order: { name: 'uid', descending: false }, filterKey: group })
      const rows = sortRows(acceptancesFor(world, group), paging.order, sortable)
      const { rows: page, ...envelope } = pageOf(world, rows, paging, sortable)
      return ok({ termsAcceptances: page.map((row) => render(acceptanceMessage, row)), ...envelope })
    },
  },
]
