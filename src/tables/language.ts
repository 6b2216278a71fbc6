/**
 * The language of the tables, and the only module of src/tables that mappings/ imports. A table of one resource reads:
 *
 *     const role = resource('role', {
 *       v2: '/iam/v2/roles',
 *       plural: 'roles',
 *       fields: { id: readOnly('uid'), name: text('name'), capabilities: choices('capabilities', capabilities) },
 *     })
 *
 *     const roleOperations: readonly Operation[] = [
 *       list('iam.roles.list', 'GET /iam/v1/roles', role, { query: { ...scope, name: 'name' }, byId: 'id' }),
 *       create('iam.roles.create', 'POST /iam/v1/roles/{parent_id=**}', role),
 *       replace('iam.roles.update', 'PUT /iam/v1/roles/{id=**}', role),
 *       remove('iam.roles.delete', 'DELETE /iam/v1/roles/{id=**}', role),
 *     ]
 *
 * Each name is explained, with an example, where it is defined. Only it and `src/index.ts` re-export: the architecture test says so.
 */

// Resources and messages: one row a member.

export {
  bytes,
  choice,
  choices,
  converted,
  duration,
  elsewhere,
  enumMap,
  type Fields,
  firstOf,
  flag,
  gone,
  identical,
  int,
  intMap,
  jsonName,
  knownBy,
  listOf,
  long,
  lossy,
  made,
  mapOf,
  mayBeWithheld,
  nested,
  nullable,
  number,
  object,
  objectMap,
  objects,
  oneof,
  optional,
  optionalInV1,
  parentOf,
  prefixed,
  readOnly,
  refused,
  restIn,
  rows,
  text,
  textMap,
  texts,
  time,
  uint,
  WITHHELD,
  withheld,
} from './fields.ts'
export {
  type Message,
  mayBeEmpty,
  message,
  optionalShape,
  type Resource,
  resource,
  shape,
  typed,
  uidOf,
  type V1OnlyShape,
} from './resource.ts'

// Operations: one row an endpoint.

export type { Env, Mapping, Operation, V1Request } from './operation.ts'
export {
  action,
  create,
  get,
  type Holds,
  list,
  nothing,
  ok,
  operation,
  patch,
  remove,
  replace,
  v1FieldName,
  v1Only,
  v1OnlyRows,
  withoutToken,
} from './operations.ts'
export { type ReadWhole, wholeList } from './whole-list.ts'

// Parameters of a query.

export { parameters } from './fields.ts'
export {
  choiceParam,
  choicesParam,
  flagParam,
  intParam,
  negated,
  scope,
  single,
  textsParam,
  timeParam,
  v1OnlyFlag,
  v2Query,
} from './query.ts'

// Plans of several calls.

export { isIdentified } from './compile.ts'
export { asText, isObject, type JsonObject } from './json.ts'
export type { Enrich } from './list.ts'
export { EVERYTHING, eachPage, readPage } from './pages.ts'
export { ask, askAll, bodyOf, type Call, type Expected, type Outcome, type Plan } from './turn.ts'
export { fillPath, parentUid, told, uidInPath, uidSent, uidToldInPath } from './uid.ts'
export { findAll, hydrate, lookUp, type Reference } from './whole-list.ts'

// Differences that a client can see.

export { covers } from './operation.ts'
export { anything, type Sign } from './signs.ts'

// All tables of an API.

export type { Acknowledged, DeclaredDifference, GuideTopic, Probe, Tables } from './tables.ts'

// Errors.

export type { ErrorForm } from '../errors.ts'
export { ApiError, CODES, type CodeName, type FieldViolation, invalidArgument, isSaid } from '../errors.ts'
