import { action, list, message, type Operation, readOnly, resource, text, texts, time } from '../../src/tables/language.ts'

/** The acceptance of a document of terms for an organization (facts §3.10). */
const acceptance = resource('terms acceptance', {
  v2: '/iam/v2/terms',
  plural: 'termsAcceptances',
  fields: {
    doc_id: readOnly('docId'),
    accepted_by: readOnly('acceptedBy'),
    accepted_at: readOnly(time('createTime')),
  },
})

const accepting = message('accept terms request', { document_ids: texts('documentIds') })
const accepted = message('accept terms answer', { group: text('group'), document_ids: texts('documentIds') })

export const termsOperations: readonly Operation[] = [
  list('iam.terms.list', 'GET /iam/v1/terms/{group=**}', acceptance, { v2: '/iam/v2/terms/{group}' }),
  action('iam.terms.accept', 'POST /iam/v1/terms/{group=**}', {
    v2: 'POST /iam/v2/terms/{group}',
    request: accepting,
    answer: accepted,
    readBack: { resource: acceptance, named: { param: 'group' }, listed: { answer: 'document_ids', row: 'doc_id' } },
  }),
]
