import type { Operation } from '../../tables/operations/operation.ts'
import type { Redactor } from './redact.ts'
import { vocabularyOf } from './vocabulary.ts'

/** Redacts the data of one operation; see `Redactor`. */
export interface Redacted {
  value(value: unknown, name: string): unknown
  pointer(at: string, where: string): string
  path(path: string): string
  /** Redacts a name that may come from a user. */
  word(word: string): string
}

/** Returns the redactor with the public words of one operation. Keep it: the words are gathered once. */
export function redactedFor(operation: Operation, redactor: Redactor): Redacted {
  const words = vocabularyOf(operation)
  return {
    value: (value, name) => redactor.value(value, name, words),
    pointer: (at, where) => redactor.pointer(at, where, words),
    path: (path) => redactor.path(path, words),
    word: (word) => redactor.path(word, words),
  }
}
