import type { GuideTopic } from '../src/tables/language.ts'

/** What differs between v1 and v2 whatever is called (specification §9.5). */
export const topics: readonly GuideTopic[] = [
  {
    title: 'Tokens and ids',
    v1: '`id` names a resource.',
    v2: 'The same value is called `uid`, so that stored ids stay valid. Tokens, rights and the `uidp.` filters are the same.',
  },
  {
    title: 'Names and unset members',
    v1: 'An answer has every member. An unset one is `""`, `0`, `false`, `[]` or `null`.',
    v2: 'Names are in camelCase. An answer leaves out most unset members: read an absent member as unset. 64-bit numbers are strings in both.',
  },
  {
    title: 'Lists',
    v1: 'A list is whole unless the request asks for a window, and its rows are `items`.',
    v2: 'A list comes in pages: 50 rows unless `page_size` says otherwise, 200 at most. Ask again with `page_token` = `nextPageToken` until that is absent or empty. `skip` leaves out rows, and `totalCount` counts all. The rows are under a name of their own. A token is good for three days; after that the list begins anew, without an error.',
    concerns: ({ rows }) => rows === true,
  },
  {
    title: 'One resource',
    v1: 'A list with `id` finds it. Nothing found is 200 with an empty list.',
    v2: 'A Get has it by its uid. Nothing found is 404 (`code` 5).',
    concerns: ({ rows, selects, ownParams }) => rows === true && selects !== undefined && ownParams.includes(selects),
  },
  {
    title: 'Nothing found',
    v1: 'It is 200 with an empty answer.',
    v2: 'It is 404 with `code` 5 (NOT_FOUND).',
    concerns: ({ rows, missing }) => missing === 'empty' && rows !== true,
  },
  {
    title: 'Updates',
    v1: 'A PUT replaces the resource: what is left out is reset.',
    v2: 'A PATCH changes the members that `updateMask` names, and resets those of them that the body leaves out. Without a mask it changes what the body has. Keep the mask of the call below to keep what a PUT did; a shorter one changes less. The answer is the whole resource.',
    concerns: ({ method, calls }) => method === 'PUT' && calls.some((call) => call.startsWith('PATCH')),
  },
  {
    title: 'Deletes',
    v1: 'A delete of what is not there is 200.',
    v2: 'It is 404: take it for success. A delete that something blocks is 400 with `code` 9 and says what blocks it. The answer is empty.',
    concerns: ({ method }) => method === 'DELETE',
  },
  {
    title: 'Errors',
    v1: '`code` and `message`; `details` is empty.',
    v2: '`details` say more: ErrorInfo (`reason`), BadRequest (`fieldViolations`), ResourceInfo, PreconditionFailure. Fields are named as in v2. Decide by `code` and `reason`, never by the words of `message`.',
  },
  {
    title: 'Callers of gRPC',
    v1: 'The methods carry no version in their names, apart from one package. A list is one message.',
    v2: "Each operation below names its methods. The messages are the JSON below, with the names of their proto files. `page_size`, `page_token` and `skip` are fields of a request. `update_mask` has the paths of the proto, such as `sync_config`. Without it, only members that are not zero change. An error has the same code, and its details are in `grpc-status-details-bin`. The vendor's SDK has these clients in `clients/v2`.",
  },
]
