import type { Api } from './api.ts'
import type { Dialect } from './spell.ts'
import type { Role } from './target.ts'

/** One promise of the v1 API, shown by requests and answers. It creates what it needs and leaves nothing behind. */
export interface Case {
  readonly name: string
  /** The operations that it shows, by id. */
  readonly operations: readonly string[]
  /** Only this dialect; both otherwise. */
  readonly dialect?: Dialect
  /** Code of the difference between a genuine and a proxied v1 that this case pins (mappings/differences.ts). */
  readonly difference?: string
  /** Roles that it plays besides the owner. */
  readonly roles?: readonly Role[]
  /** It changes nothing at the target. */
  readonly reads?: true
  readonly run: (api: Api) => Promise<void>
}
