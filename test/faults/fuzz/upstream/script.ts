import type { Frame } from '../../frames.ts'

/** What the upstream does with the request of a case. */
export type Script = Script1 | Script2

/** An answer over HTTP/1.1, byte for byte. */
export interface Script1 {
  /** Each is a write of its own. */
  readonly pieces: readonly Buffer[]
  /** What becomes of the connection then; a tunnel that is kept stays until the other side ends it. */
  readonly afterwards: 'keep' | 'end' | 'reset'
  /** Answers when the head of the request is there, and its body is not. */
  readonly early: boolean
  /** Milliseconds until it begins. */
  readonly delayMs: number
}

/** An answer over HTTP/2; stream 1 stands for that of the request. */
export interface Script2 {
  readonly frames: readonly Frame[]
}

/** Finds the script of a request; undefined: it is answered well. */
export type ScriptOf = (key: string) => Script | undefined

/** Names what a request belongs to, in its `authorization` over HTTP/1.1 and in its body over gRPC; always of one length. */
const KEY = /case-[\w]{8}/

/** No request has it. */
export const NO_KEY = 'case-00000000'

/** What nobody asked for has it. */
export const EVIL_KEY = 'case-evilevil'

/** A number of five digits, and three by which a key can be told from one that was mutated on its way. */
export function keyOf(nth: number): string {
  const check = (Math.imul(nth, 0x9e3779b1) >>> 0) % 36 ** 3
  return `case-${nth.toString(36).padStart(5, '0')}${check.toString(36).padStart(3, '0')}`
}

/** The number of a key; undefined when it is none. */
export function numberOf(key: string): number | undefined {
  const nth = Number.parseInt(key.slice(5, 10), 36)
  return keyOf(nth) === key ? nth : undefined
}

/** All keys in a text. */
export function keysIn(text: string): readonly string[] {
  return text.match(new RegExp(KEY, 'g')) ?? []
}

/** The key of a request. */
export const keyIn = (text: string): string | undefined => KEY.exec(text)?.[0]

/** One connection from the proxy. */
export interface Connection {
  /** Something is under way: a request without its end, an answer, a stream, a tunnel. */
  isBusy(): boolean
}
