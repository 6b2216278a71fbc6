import {
  action,
  get,
  intParam,
  mayBeEmpty,
  message,
  type Operation,
  objects,
  optional,
  readOnly,
  resource,
  text,
  texts,
  time,
} from 'crosswalk/tables'

/** Both versions write liens alike. */
const lien = resource('lien', {
  v2: '/v3/liens',
  plural: 'liens',
  fields: {
    name: readOnly('name'),
    parent: text('parent'),
    restrictions: texts('restrictions'),
    reason: text('reason'),
    origin: text('origin'),
    createTime: readOnly(time('createTime')),
  },
})

const page = mayBeEmpty(
  message('liens page', { liens: optional(objects('liens', lien.fields)), nextPageToken: optional(text('nextPageToken')) }),
)

export const lienOperations: readonly Operation[] = [
  action('resourcemanager.liens.list', 'GET /v1/liens', {
    v2: 'GET /v3/liens',
    params: { parent: 'parent', pageSize: intParam('pageSize'), pageToken: 'pageToken' },
    paging: { parameter: 'pageToken', member: 'nextPageToken' },
    answer: page,
  }),
  action('resourcemanager.liens.create', 'POST /v1/liens', {
    v2: 'POST /v3/liens',
    request: lien,
    answer: lien,
    readBack: { unverifiable: 'the answer names the lien by a path, and not by the id that a read takes' },
  }),
  get('resourcemanager.liens.get', 'GET /v1/liens/{liensId}', lien, 'error'),
  action('resourcemanager.liens.delete', 'DELETE /v1/liens/{liensId}', {
    v2: 'DELETE /v3/liens/{liensId}',
    readBack: { resource: lien, named: { param: 'liensId' }, gone: true },
  }),
]
