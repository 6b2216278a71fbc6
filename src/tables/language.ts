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

export { enumMap, identical, prefixed } from './language/enums.ts'
export {
  bytes,
  choice,
  choices,
  converted,
  duration,
  elsewhere,
  type Fields,
  firstOf,
  flag,
  gone,
  int,
  intMap,
  jsonName,
  long,
  lossy,
  made,
  nested,
  object,
  objectMap,
  objects,
  oneof,
  optional,
  optionalInV1,
  parentOf,
  readOnly,
  text,
  textMap,
  texts,
  time,
  uint,
} from './language/field.ts'
export { rows } from './language/fields/rows.ts'
export { knownBy, mayBeWithheld, restIn, WITHHELD, withheld } from './language/fields/shown-in-part.ts'
export { type Message, mayBeEmpty, message, type Resource, resource, uidOf } from './language/resource.ts'
export { optionalShape, shape, type V1OnlyShape } from './language/shape.ts'

// Operations: one row an endpoint.

export { v1FieldName } from './compile/field-name.ts'
export { action } from './operations/action.ts'
export type { Env, Mapping, Operation, V1Request } from './operations/operation.ts'
export { nothing, ok, operation, v1Only, v1OnlyRows, withoutToken } from './operations/operation-builder.ts'
export { create, get, list, patch, remove, replace } from './operations/operations.ts'
export { type ReadWhole, wholeList } from './plan/whole-list.ts'

// Parameters of a query.

export { parameters } from './language/fields/rows.ts'
export { choiceParam, choicesParam, flagParam, intParam, negated, scope, textsParam, timeParam, v1OnlyFlag } from './language/param.ts'
export { single, v2Query } from './language/query.ts'

// Plans of several calls.

export { isIdentified } from './compile/is-answer.ts'
export { asText, isObject, type JsonObject } from './json.ts'
export { fillPath } from './language/path.ts'
export { parentUid, told, uidInPath, uidToldInPath } from './language/uid.ts'
export { findAll } from './plan/find-all.ts'
export { hydrate, lookUp, type Reference } from './plan/hydrate.ts'
export type { Enrich } from './plan/list-query.ts'
export { readPage } from './plan/page.ts'
export { ask, askAll, bodyOf, type Call, type Expected, type Outcome, type Plan } from './plan/plan.ts'
export { eachPage } from './plan/walk.ts'
export { EVERYTHING } from './plan/window.ts'

// Differences that a client can see.

export { anything, type Sign } from './language/sign.ts'
export { covers } from './operations/operation-pattern.ts'

// All tables of an API.

export type { Acknowledged, DeclaredDifference, GuideTopic, Probe, Tables } from './tables.ts'

// Errors.

export { ApiError, type FieldViolation, invalidArgument, isSaid } from '../errors/api-error.ts'
export { CODES, type CodeName } from '../errors/codes.ts'
export type { ErrorForm } from '../errors/error-form.ts'
