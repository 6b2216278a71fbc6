import type { Acknowledged } from 'crosswalk/tables'

/** What one version has and the other does not give or take. `crosswalk check` asks for each. */
export const acknowledged: readonly Acknowledged[] = [
  { v1: 'Project.lifecycleState=DELETE_IN_PROGRESS', reason: 'v3 has no such state' },
  { v1: 'Status.details', reason: 'a failed operation of v3 has details of its own types, of which v1 knows none' },
  { v1: 'Lien.name', in: 'request', reason: 'both versions name a lien themselves' },
  { v2: 'Lien.name', in: 'request', reason: 'both versions name a lien themselves' },
  { v2: 'Status.details', reason: 'v1 knows none of their types' },
  { v2: ['*.updateTime', '*.deleteTime', '*.etag'], reason: 'v1 never had them' },
  { v2: 'GET /v3/projects', reason: 'it lists below one parent; a list of v1 is everywhere, as GET /v3/projects:search is' },
  { v2: 'GET /v3/projects:search?query', reason: 'it is written from the filter of v1 (more)' },
  { v2: 'MoveProjectRequest.destinationParent', reason: 'the plan of an update sends it' },
  { v2: 'Folder.*', reason: 'the plan of getAncestry follows parents, and shows nothing else of a folder' },
]
