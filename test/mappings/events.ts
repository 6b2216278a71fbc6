import { items, type Transcript, transcript } from './transcript.ts'

const SINK = 'https://sink.example/hook'
const v2Subscription = { uid: 'org/sub', sink: SINK }
const subscription = { id: 'org/sub', sink: SINK, group_id: 'org' }
const published = { id: 'org/sub', sink: SINK }

export const events: readonly Transcript[] = [
  transcript('events.subscriptions.list', 'the subscriptions of a group; neither version knows times')
    .sent('GET /events/v1/subscriptions?uidp.childrenOf=org')
    .asks('GET /events/v2/subscriptions?uidp.children_of=org&page_size=200', { subscriptions: [v2Subscription, { uid: 'org/bare' }] })
    .answers(items(subscription, { id: 'org/bare', sink: '', group_id: 'org' }), items(published, { id: 'org/bare', sink: '' })),
  transcript('events.subscriptions.list', 'every scope')
    .sent(
      'GET /events/v1/subscriptions?uidp.ancestorsOf=a&uidp.descendants_of=b&uidp.children_of=c&uidp.inRoot=false&uidp.ids=d&uidp.ids=e',
    )
    .asks(
      'GET /events/v2/subscriptions?uidp.ancestors_of=a&uidp.descendants_of=b&uidp.children_of=c&uidp.in_root=false&uidp.ids=d&uidp.ids=e&page_size=200',
      { subscriptions: [] },
    )
    .answers(items()),
  transcript('events.subscriptions.list', 'by id')
    .sent('GET /events/v1/subscriptions?id=org/sub')
    .asks('GET /events/v2/subscriptions/org/sub', v2Subscription)
    .answers(items(subscription), items(published)),
  transcript('events.subscriptions.create', 'the parent stays in the path, an id in the body is dropped')
    .sent('POST /events/v1/subscriptions/org', { id: 'mine', sink: SINK })
    .writes('POST /events/v2/subscriptions/org', { sink: SINK }, v2Subscription)
    .answers(subscription, published),
  transcript('events.subscriptions.create', 'a sink that v2 refuses')
    .sent('POST /events/v1/subscriptions/org', { sink: 'http://sink.example' })
    .writes('POST /events/v2/subscriptions/org', { sink: 'http://sink.example' }, 'INVALID_ARGUMENT')
    .refuses('INVALID_ARGUMENT'),
  transcript('events.subscriptions.delete', 'gone')
    .sent('DELETE /events/v1/subscriptions/org/sub')
    .asks('DELETE /events/v2/subscriptions/org/sub', 'NOT_FOUND')
    .answers({}),
]
