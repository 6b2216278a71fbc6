import { failure, items, type Transcript } from '../transcript.ts'

export const terms: readonly Transcript[] = [
  {
    title: 'accepted documents; rows without a uid are walked by their cursor',
    operation: 'iam.terms.list',
    request: 'GET /iam/v1/terms/org',
    calls: [
      {
        call: 'GET /iam/v2/terms/org?page_size=200',
        answer: { termsAcceptances: [{ docId: 'eula', acceptedBy: 'alice', orgUid: 'org' }], nextPageToken: 'more' },
      },
      {
        call: 'GET /iam/v2/terms/org?page_size=200&page_token=more',
        answer: { termsAcceptances: [{ docId: 'dpa', acceptedBy: 'alice', createTime: '2025-01-02T03:04:05Z' }] },
      },
    ],
    reply: items(
      { doc_id: 'eula', accepted_by: 'alice', accepted_at: null },
      { doc_id: 'dpa', accepted_by: 'alice', accepted_at: '2025-01-02T03:04:05Z' },
    ),
    published: items(
      { docId: 'eula', acceptedBy: 'alice', acceptedAt: null },
      { docId: 'dpa', acceptedBy: 'alice', acceptedAt: '2025-01-02T03:04:05Z' },
    ),
  },
  {
    title: 'a list of a group that is not there is empty',
    operation: 'iam.terms.list',
    request: 'GET /iam/v1/terms/gone',
    calls: [{ call: 'GET /iam/v2/terms/gone?page_size=200', answer: 'NOT_FOUND' }],
    reply: items(),
  },
  {
    title: 'accepted',
    operation: 'iam.terms.accept',
    request: 'POST /iam/v1/terms/org',
    body: { group: 'other', document_ids: ['eula'] },
    calls: [{ call: 'POST /iam/v2/terms/org', body: { documentIds: ['eula'] }, answer: { group: 'org', documentIds: ['eula'] } }],
    reply: { group: 'org', document_ids: ['eula'] },
    published: { group: 'org', documentIds: ['eula'] },
  },
  {
    title: 'not one of the documents',
    operation: 'iam.terms.accept',
    request: 'POST /iam/v1/terms/org',
    body: { documentIds: ['poem'] },
    calls: [{ call: 'POST /iam/v2/terms/org', body: { documentIds: ['poem'] }, answer: 'INVALID_ARGUMENT' }],
    status: 400,
    reply: failure('INVALID_ARGUMENT'),
  },
]
