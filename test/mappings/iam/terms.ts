import { items, type Transcript, transcript } from '../transcript.ts'

export const terms: readonly Transcript[] = [
  transcript('iam.terms.list', 'accepted documents; rows without a uid are walked by their cursor')
    .sent('GET /iam/v1/terms/org')
    .asks('GET /iam/v2/terms/org?page_size=200', {
      termsAcceptances: [{ docId: 'eula', acceptedBy: 'alice', orgUid: 'org' }],
      nextPageToken: 'more',
    })
    .asks('GET /iam/v2/terms/org?page_size=200&page_token=more', {
      termsAcceptances: [{ docId: 'dpa', acceptedBy: 'alice', createTime: '2025-01-02T03:04:05Z' }],
    })
    .answers(
      items(
        { doc_id: 'eula', accepted_by: 'alice', accepted_at: null },
        { doc_id: 'dpa', accepted_by: 'alice', accepted_at: '2025-01-02T03:04:05Z' },
      ),
      items(
        { docId: 'eula', acceptedBy: 'alice', acceptedAt: null },
        { docId: 'dpa', acceptedBy: 'alice', acceptedAt: '2025-01-02T03:04:05Z' },
      ),
    ),
  transcript('iam.terms.list', 'a list of a group that is not there is empty')
    .sent('GET /iam/v1/terms/gone')
    .asks('GET /iam/v2/terms/gone?page_size=200', 'NOT_FOUND')
    .answers(items()),
  transcript('iam.terms.accept', 'accepted')
    .sent('POST /iam/v1/terms/org', { group: 'other', document_ids: ['eula'] })
    .writes('POST /iam/v2/terms/org', { documentIds: ['eula'] }, { group: 'org', documentIds: ['eula'] })
    .answers({ group: 'org', document_ids: ['eula'] }, { group: 'org', documentIds: ['eula'] }),
  transcript('iam.terms.accept', 'not one of the documents')
    .sent('POST /iam/v1/terms/org', { documentIds: ['poem'] })
    .writes('POST /iam/v2/terms/org', { documentIds: ['poem'] }, 'INVALID_ARGUMENT')
    .refuses('INVALID_ARGUMENT'),
]
