import { create, list, type Mapping, readOnly, remove, resource, scope, text, v1Only } from '../src/tables/language.ts'

/** A destination for the events of a group. Neither version has times for it (facts §8). */
const subscription = resource('subscription', {
  v2: '/events/v2/subscriptions',
  plural: 'subscriptions',
  stamps: ['group_id'],
  fields: { id: readOnly('uid'), sink: text('sink') },
})

export const events: Mapping = {
  domain: 'events',
  operations: [
    list('events.subscriptions.list', 'GET /events/v1/subscriptions', subscription, { query: scope, byId: 'id' }),
    create('events.subscriptions.create', 'POST /events/v1/subscriptions/{parent_id=**}', subscription),
    remove('events.subscriptions.delete', 'DELETE /events/v1/subscriptions/{id=**}', subscription),
    // Without a parent it is not `iam.identities.create`, although its collection is the same (facts §2).
    v1Only(
      'events.identities.create',
      'POST /iam/v1/identities',
      'v2 creates identities below a group alone, POST /iam/v1/identities/{id}',
      'POST /iam/v2/identities/{parent_uid}, with the uid of the group',
    ),
  ],
}
