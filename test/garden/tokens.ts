/** The name of a request whose credential got lost. A `Connection` header may name and so remove it. */
const NOBODY = 'nobody'

/**
 * Every request of the garden is named in its credential, because all three carriers pass it on: `Bearer BEHAVIOUR.ID`.
 * The behaviour tells the journal how to answer, and the answer repeats the id.
 */
export const credential = (id: string, behaviour: string) => `authorization: Bearer ${behaviour}.${id}`

/** Returns the behaviour and the id of a credential. */
export function readCredential(authorization: string | undefined): { readonly behaviour: string; readonly id: string } {
  const [, behaviour = 'ok', id = NOBODY] = /^Bearer (\w+)\.([\w-]+)$/.exec(authorization ?? '') ?? []
  return { behaviour, id }
}

/** Returns the id that an answer repeats. v2 and v1 name it in their lists and in their errors. */
export function echoIn({ headers, body }: { readonly headers: ReadonlyMap<string, string>; readonly body: string }): string | undefined {
  const echo = headers.get('x-echo') ?? /"(?:name|message)":"([\w-]+)"/.exec(body)?.[1]
  return echo === NOBODY ? undefined : echo
}
