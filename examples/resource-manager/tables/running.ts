import {
  ApiError,
  ask,
  type Call,
  choice,
  enumMap,
  flag,
  int,
  isObject,
  type JsonObject,
  message,
  object,
  optional,
  type Plan,
  text,
  time,
} from 'crosswalk/tables'
import { project } from './project.ts'

const TYPE = 'type.googleapis.com/google.'

const metadataType = enumMap('MetadataType', [
  [`${TYPE}cloudresourcemanager.v1.ProjectCreationStatus`, `${TYPE}cloud.resourcemanager.v3.CreateProjectMetadata`],
])

const projectType = enumMap('ResponseType', [[`${TYPE}cloudresourcemanager.v1.Project`, `${TYPE}cloud.resourcemanager.v3.Project`]])

/** A long-running operation. v1 has them for creates alone. */
export const running = message('operation', {
  name: text('name'),
  metadata: optional(
    object('metadata', {
      '@type': choice('@type', metadataType),
      createTime: optional(time('createTime')),
      gettable: optional(flag('gettable')),
      ready: optional(flag('ready')),
    }),
  ),
  done: optional(flag('done')),
  error: optional(object('error', { code: int('code'), message: text('message') })),
  response: optional(object('response', { '@type': choice('@type', projectType), ...project.fields })),
})

/**
 * Makes a call that v3 answers with an operation, and returns its project. v1 answered when it was done. A plan cannot wait, so that an
 * operation that is not done when it is asked for once more is UNAVAILABLE; the client asks again, and the same change is made again.
 */
export function* done(call: Call): Plan<JsonObject> {
  const begun = yield* ask(call, running)
  const { name } = begun
  const operation = begun['done'] ? begun : yield* ask({ method: 'GET', path: `/v3/${name}`, query: [] }, running)
  const { error, response } = operation
  if (isObject(error)) throw new ApiError('FAILED_PRECONDITION', String(error['message']))
  if (!isObject(response))
    throw new ApiError('UNAVAILABLE', 'the change is still under way; ask again', { headers: { 'retry-after': '1' } })
  return response
}
