import type { Api } from './api.ts'
import type { Dialect } from './spell.ts'
import type { Role } from './target.ts'

/** One promise of the v1 API, shown by requests and answers. It creates what it needs and removes it afterwards. */
export interface Case {
  readonly name: string
  /** The ids of the operations that it shows. */
  readonly operations: readonly string[]
  /** The only dialect; both by default. */
  readonly dialect?: Dialect
  /** The code of the difference between a genuine and a proxied v1 that this case proves (mappings/differences.ts). */
  readonly difference?: string
  /** Roles that it uses besides the owner. */
  readonly roles?: readonly Role[]
  /** True if it changes nothing at the target. */
  readonly reads?: true
  readonly run: (api: Api) => Promise<void>
}
