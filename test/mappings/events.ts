import { failure, items, type Transcript } from './transcript.ts'

const SINK = 'https://sink.example/hook'
const v2Subscription = { uid: 'org/sub', sink: SINK }
const subscription = { id: 'org/sub', sink: SINK, group_id: 'org' }
const published = { id: 'org/sub', sink: SINK }

export const events: readonly Transcript[] = [
  {
    title: 'the subscriptions of a group; neither version knows times',
    operation: 'events.subscriptions.list',
    request: 'GET /events/v1/subscriptions?uidp.childrenOf=org',
    calls: [
      {
        call: 'GET /events/v2/subscriptions?uidp.children_of=org&page_size=200',
        answer: { subscriptions: [v2Subscription, { uid: 'org/bare' }] },
      },
    ],
    reply: items(subscription, { id: 'org/bare', sink: '', group_id: 'org' }),
    published: items(published, { id: 'org/bare', sink: '' }),
  },
  {
    title: 'every scope',
    operation: 'events.subscriptions.list',
    request:
      'GET /events/v1/subscriptions?uidp.ancestorsOf=a&uidp.descendants_of=b&uidp.children_of=c&uidp.inRoot=false&uidp.ids=d&uidp.ids=e',
    calls: [
      {
        call: 'GET /events/v2/subscriptions?uidp.ancestors_of=a&uidp.descendants_of=b&uidp.children_of=c&uidp.in_root=false&uidp.ids=d&uidp.ids=e&page_size=200',
        answer: { subscriptions: [] },
      },
    ],
    reply: items(),
  },
  {
    title: 'by id',
    operation: 'events.subscriptions.list',
    request: 'GET /events/v1/subscriptions?id=org/sub',
    calls: [{ call: 'GET /events/v2/subscriptions/org/sub', answer: v2Subscription }],
    reply: items(subscription),
    published: items(published),
  },
  {
    title: 'the parent stays in the path, an id in the body is dropped',
    operation: 'events.subscriptions.create',
    request: 'POST /events/v1/subscriptions/org',
    body: { id: 'mine', sink: SINK },
    calls: [{ call: 'POST /events/v2/subscriptions/org', body: { sink: SINK }, answer: v2Subscription }],
    reply: subscription,
    published,
  },
  {
    title: 'a sink that v2 refuses',
    operation: 'events.subscriptions.create',
    request: 'POST /events/v1/subscriptions/org',
    body: { sink: 'http://sink.example' },
    calls: [{ call: 'POST /events/v2/subscriptions/org', body: { sink: 'http://sink.example' }, answer: 'INVALID_ARGUMENT' }],
    status: 400,
    reply: failure('INVALID_ARGUMENT'),
  },
  {
    title: 'gone',
    operation: 'events.subscriptions.delete',
    request: 'DELETE /events/v1/subscriptions/org/sub',
    calls: [{ call: 'DELETE /events/v2/subscriptions/org/sub', answer: 'NOT_FOUND' }],
    reply: {},
  },
]
