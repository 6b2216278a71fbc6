/** Two functions between v2's value and the value that v1's type describes. */
export interface Convert {
  readonly show: (v2: unknown) => unknown
  /** Absent for a member that v1 only shows. Undefined says that the value makes no sense; `must` then says what it must be. */
  readonly read?: (v1: unknown) => unknown
  readonly must?: string
}

/** Returns the value as v1's type describes it; undefined if v2 has none. */
export function shownWith({ show }: Convert, value: unknown): unknown {
  return value === undefined || value === null ? undefined : show(value)
}

/** Returns the value as v2 writes it, or what `refuse` returns for the reason. */
export function readWith<Refused>(
  { read, must = 'has a value that v2 does not know' }: Convert,
  value: unknown,
  refuse: (why: string) => Refused,
) {
  return read?.(value) ?? refuse(must)
}
