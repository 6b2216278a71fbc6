import type { Operation } from '../../tables/operations/operation.ts'
import type { Redactor } from './redact.ts'
import { vocabularyOf } from './vocabulary.ts'

/** Makes what belongs to one operation fit to be kept; see `Redactor`. */
export interface Redacted {
  value(value: unknown, name: string): unknown
  pointer(at: string, where: string): string
  path(path: string): string
  /** A name that may be anybody's. */
  word(word: string): string
}

/** The redactor with the public words of one operation; they are gathered once, so keep it. */
export function redactedFor(operation: Operation, redactor: Redactor): Redacted {
  const words = vocabularyOf(operation)
  return {
    value: (value, name) => redactor.value(value, name, words),
    pointer: (at, where) => redactor.pointer(at, where, words),
    path: (path) => redactor.path(path, words),
    word: (word) => redactor.path(word, words),
  }
}
