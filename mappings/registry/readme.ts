import { ApiError, isSaid } from '../../src/errors.ts'
import {
  ask,
  askAll,
  asText,
  bodyOf,
  type Call,
  type Enrich,
  type Expected,
  isIdentified,
  type JsonObject,
  message,
  type Outcome,
  type Plan,
  text,
  told,
  uidInPath,
} from '../../src/tables/language.ts'
import { repo } from './repo.ts'

/** v1 has the readme inside the repo. v2 has it as a sub-resource whose writing needs a stricter capability (facts §4.1). */
export const README_CALLS = { read: 'GET /registry/v2/repos/{id}/readme', write: 'PATCH /registry/v2/repos/{id}/readme' }

const inBody = message('repo readme', { readme: text('content') })

/** v2's answer: it omits an empty text, but never the uid of the repo. */
const stored: Expected = {
  isAnswer: (body) => typeof body.content === 'string' || ((body.content ?? undefined) === undefined && isIdentified(body)),
}

/** Returns the readme in a v1 body; undefined if the member is absent. */
export function readmeIn(body: unknown): string | undefined {
  const { content } = inBody.read(body)
  return content as string | undefined
}

/**
 * Adds the readme to each repo. If readmes are cached (`keep.ttlMs`), the update time of the repo is part of the key.
 * No source says that a change of the readme moves that time.
 */
export const withReadmes: Enrich = function* (rows, env) {
  if (!env.readmes) return rows
  const outcomes = yield* askAll(rows.map(({ uid, updateTime }) => readCall(told(asText(uid)), asText(updateTime))))
  return rows.map((row, at) => ({ ...row, content: contentOf(outcomes[at]) }))
}

/** Reads the stored readme of a repo, never from the cache; undefined if the caller may not see it. */
export function* storedReadme(uid: string): Plan<string | undefined> {
  const [outcome] = yield* askAll([readCall(uid)])
  if (outcome?.ok === false && isSaid(outcome.error, 'PERMISSION_DENIED')) return undefined
  return contentOf(outcome)
}

export function* writeReadme(uid: string, content: string): Plan<JsonObject> {
  return yield* ask({ method: 'PATCH', path: pathOf(told(uid)), query: [['updateMask', 'content']], body: { content } }, stored)
}

/** Returns an error that says that the other half of a write had already happened. */
export function halfDone(error: unknown, done: string): unknown {
  if (!(error instanceof ApiError)) return error
  return new ApiError(error.code, `${error.message} (${done})`, { details: error.details, headers: error.headers, cause: error })
}

/** v2 answers NOT_FOUND or the empty text for a repo without a readme; both mean `""` (facts §26). Other failures fail the list. */
function contentOf(outcome: Outcome | undefined): string {
  if (!outcome || (!outcome.ok && isSaid(outcome.error, 'NOT_FOUND'))) return ''
  const { content } = bodyOf(outcome, stored)
  return typeof content === 'string' ? content : ''
}

function readCall(uid: string, version?: string): Call {
  const call: Call = { method: 'GET', path: pathOf(uid), query: [] }
  return version === undefined ? call : { ...call, keep: { key: `readme ${uid} ${version}`, scope: 'caller' } }
}

function pathOf(uid: string): string {
  return `${repo.v2}/${uidInPath(uid, 'id')}/readme`
}
