import type { Operation } from '../../tables/operation.ts'
import type { RedactLimits, Redactor, Spellings } from './redact.ts'
import type { TextPair } from './text-pair.ts'
import { type Vocabulary, vocabularyOf, vocabularyOfAll } from './vocabulary.ts'

/** Redacts the data of one operation; see `Redactor`. */
export interface Redacted {
  value(value: unknown, name: string, limits?: RedactLimits): unknown
  texts(v1: string, v2: string, name: string): TextPair
  key(name: string): string
  pointer(place: Spellings): string
  path(path: string): string
  /** Redacts a name that may come from a user. */
  word(word: string): string
}

/** Returns the redactor with the public words of one operation. Keep it: the words are gathered once. */
export function redactedFor(operation: Operation, redactor: Redactor): Redacted {
  return withWords(vocabularyOf(operation), redactor)
}

/** Returns a redactor with the public words of all operations. They are gathered when they are needed first. */
export function redactedAlike(operations: readonly Operation[], redactor: Redactor): () => Redacted {
  let made: Redacted | undefined
  return () => {
    made ??= withWords(vocabularyOfAll(operations), redactor)
    return made
  }
}

function withWords(words: Vocabulary, redactor: Redactor): Redacted {
  return {
    value: (value, name, limits) => redactor.value(value, name, words, limits),
    texts: (v1, v2, name) => redactor.texts(v1, v2, name, words),
    key: (name) => redactor.key(name, words),
    pointer: (place) => redactor.pointer(place, words),
    path: (path) => redactor.path(path, words),
    word: (word) => redactor.path(word, words),
  }
}

/** Returns a function that redacts the data of any operation, and gathers the words of each once. */
export function redactedWith(redactor: Redactor): (operation: Operation) => Redacted {
  const known = new Map<Operation, Redacted>()
  return (operation) => {
    const found = known.get(operation) ?? redactedFor(operation, redactor)
    known.set(operation, found)
    return found
  }
}
