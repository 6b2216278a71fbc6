import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Dialect } from '../../tables/uid.ts'
import { type Captured, whyUnread } from './captured-body.ts'
import type { Finding } from './finding.ts'
import { answerForm, errorForm, type Form, type IsName } from './form.ts'
import { rootOf } from './json-path.ts'
import { compareValues, finding, inTableNames } from './values.ts'

/** One side's answer to a v1 request, in v1 space. */
export interface SeenAnswer {
  readonly status: number
  /** Names in lower case; only `content-type` is compared. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Captured
  /** What the side did, if it did not answer over HTTP. It completes "v1 …". */
  readonly did?: string
  /** The tables gave this answer without a call, so no service checked the credential. */
  readonly unasked?: true
}

/** The result of comparing: every difference (none if the answers are equal), the first ones (`isCut`), or why there is no result. */
export type Compared = { readonly findings: readonly Finding[]; readonly isCut?: true } | { readonly inconclusive: string }

export type Compare = (operation: Operation, v1: SeenAnswer, v2: SeenAnswer) => Compared

export interface CompareSettings {
  readonly dialect: Dialect
  readonly isName?: IsName | undefined
}

/** Compares two answers to one request of an operation. Both must use this dialect. */
export function createCompare({ dialect, isName }: CompareSettings): Compare {
  const forms = new Map<Operation, Form>()
  return (operation, v1, v2) => {
    let form = forms.get(operation)
    if (!form) {
      form = answerForm(operation, dialect, isName)
      forms.set(operation, form)
    }
    return compareReplies(form, v1, v2)
  }
}

/**
 * Compares two answers under one form. Different statuses count as one difference, and the bodies are then not compared.
 * Errors are compared by code and message, and their details as one value.
 */
export function compareReplies(form: Form, v1: SeenAnswer, v2: SeenAnswer): Compared {
  if (v1.status !== v2.status) return { findings: [otherStatus(form, v1, v2)] }
  for (const [side, { body }] of [['v1', v1] as const, ['v2', v2] as const]) {
    if (body.kind !== 'json') return { inconclusive: whyUnread(side, body) }
  }
  const findings = compareHeaders(v1, v2)
  const report = (found: Finding) => {
    if (findings.push(found) === MOST_FINDINGS) throw CUT
  }
  try {
    compareValues(v1.status >= 400 ? errorForm(form) : form, rootOf(bodyOf(v1), bodyOf(v2)), report)
  } catch (error) {
    if (error === CUT) return { findings, isCut: true }
    if (error instanceof RangeError) return { inconclusive: `an answer cannot be walked: ${error.message}` }
    throw error
  }
  return { findings }
}

/** The comparison ends after this many differences, because finding them all can take seconds in which no client is served. */
export const MOST_FINDINGS = 10_000
const CUT = new Error('enough differences were found')

/** Returns the JSON of an answer; undefined if it has none. */
export function bodyOf({ body }: SeenAnswer): unknown {
  return body.kind === 'json' ? body.value : undefined
}

function otherStatus(form: Form, v1: SeenAnswer, v2: SeenAnswer): Finding {
  const body = bodyOf(v2)
  const found = finding('status', rootOf(bodyOf(v1), body), { v1: v1.status, v2: v2.status })
  return isObject(body) ? { ...found, shown: inTableNames(v2.status >= 400 ? errorForm(form) : form, body) } : found
}

/** Compares the media types where both sides have one. A v1 client reads no other header of an answer. */
function compareHeaders(v1: SeenAnswer, v2: SeenAnswer): Finding[] {
  const [left, right] = [mediaType(v1), mediaType(v2)]
  if (left === undefined || right === undefined || left === right) return []
  const at = 'header:content-type'
  return [{ kind: 'value', at, where: at, path: at, v1: left, v2: right }]
}

function mediaType({ headers }: SeenAnswer): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}
