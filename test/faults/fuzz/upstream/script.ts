import type { Frame } from '../../frames.ts'

/** What the upstream does with the request of a case. */
export type Script = Script1 | Script2

/** An answer over HTTP/1.1, byte for byte. */
export interface Script1 {
  /** Each piece is a write of its own. */
  readonly pieces: readonly Buffer[]
  /** What happens to the connection afterwards; a kept tunnel stays until the other side ends it. */
  readonly afterwards: 'keep' | 'end' | 'reset'
  /** True if it answers after the head of the request, before the body. */
  readonly early: boolean
  /** Milliseconds before it begins. */
  readonly delayMs: number
}

/** An answer over HTTP/2; stream 1 stands for the stream of the request. */
export interface Script2 {
  readonly frames: readonly Frame[]
}

/** Finds the script of a request; undefined: a good answer. */
export type ScriptOf = (key: string) => Script | undefined

/**
 * Identifies the request that something belongs to: in `authorization` over HTTP/1.1, in the body over gRPC.
 * All keys have the same length.
 */
const KEY = /case-[\w]{8}/

/** A key that no request has. */
export const NO_KEY = 'case-00000000'

/** The key of answers without a request. */
export const EVIL_KEY = 'case-evilevil'

/** Five digits of a number, and three check digits that detect a mutated key. */
export function keyOf(nth: number): string {
  const check = (Math.imul(nth, 0x9e3779b1) >>> 0) % 36 ** 3
  return `case-${nth.toString(36).padStart(5, '0')}${check.toString(36).padStart(3, '0')}`
}

/** Returns the number of a key; undefined for anything else. */
export function numberOf(key: string): number | undefined {
  const nth = Number.parseInt(key.slice(5, 10), 36)
  return keyOf(nth) === key ? nth : undefined
}

/** Returns all keys in a text. */
export function keysIn(text: string): readonly string[] {
  return text.match(new RegExp(KEY, 'g')) ?? []
}

/** Returns the key of a request. */
export const keyIn = (text: string): string | undefined => KEY.exec(text)?.[0]

/** One connection from the proxy. */
export interface Connection {
  /** True during a request without its end, an answer, a stream or a tunnel. */
  isBusy(): boolean
}
