/** What a REST request can say and a gRPC call cannot, and why. The cases send these requests over REST whatever carries the others. */
export const INEXPRESSIBLE = {
  route: 'a call names its method: it has no path, verb or form that could be wrong',
  spelling: 'a message has no escapes, slashes and spellings of its own',
  twice: 'a field that is no list has one value',
  oneof: 'a oneof has one of its members',
  zero: 'a field without presence says nothing when it is zero, and a PATCH changes what its body says',
  unknown: 'a client knows the fields of its messages and no others',
  type: 'a value has the type of its field',
  raw: 'a body is a message, whatever its bytes are',
} as const

export type Inexpressible = keyof typeof INEXPRESSIBLE

/** Thrown when a request cannot be made a call. */
export class NotExpressible extends Error {
  readonly because: Inexpressible

  constructor(because: Inexpressible, what: string) {
    super(`${what}: ${INEXPRESSIBLE[because]}`)
    this.because = because
  }
}
