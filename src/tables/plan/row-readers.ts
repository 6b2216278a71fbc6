import type { Resource } from '../language/resource.ts'
import type { Env } from '../operations/operation.ts'
import type { compilePage, ReadPageText } from '../text/page-text.ts'

type Compile = typeof compilePage

type Readers = Map<Resource['shown'], ReadPageText | undefined>

/** Readers of whole pages, and of single rows, created on demand. */
export const pageReaders = new WeakMap<Env, Readers>()

export const rowReaders = new WeakMap<Env, Readers>()

export function readerIn(
  readers: WeakMap<Env, Readers>,
  compile: Compile,
  { plural, shown }: Resource,
  env: Env,
): ReadPageText | undefined {
  const known = readers.get(env) ?? new Map<Resource['shown'], ReadPageText | undefined>()
  if (known.size === 0) readers.set(env, known)
  if (!known.has(shown)) known.set(shown, compile(plural, shown, env.dialect))
  return known.get(shown)
}
