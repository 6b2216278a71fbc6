import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Node has it since 22.1. */
type Enable = ((folder: string) => unknown) | undefined

/**
 * Lets Node keep what V8 compiles, so that the next start need not. It is a folder of the user alone, because others could change the
 * program by it. Without such a folder, or where nothing can be written, nothing is kept and nothing fails. `NODE_COMPILE_CACHE` names
 * another folder, and `NODE_DISABLE_COMPILE_CACHE=1` keeps nothing.
 */
export function keepCompiled(env: NodeJS.ProcessEnv, { enable = enableOf(module), home = homedir } = {}): void {
  const folder = cacheFolder(env, home)
  if (folder !== undefined) enable?.(join(folder, 'crosswalk'))
}

function enableOf(from: object): Enable {
  return (from as { readonly enableCompileCache?: Enable }).enableCompileCache
}

/** Returns the folder for caches by the XDG Base Directory Specification; undefined for a user without a home. */
function cacheFolder({ XDG_CACHE_HOME: folder = '' }: NodeJS.ProcessEnv, home: () => string): string | undefined {
  if (folder.startsWith('/')) return folder
  try {
    return join(home(), '.cache')
  } catch {
    return undefined
  }
}
