import type { Logger } from 'pino'
import type { Config } from '../../config/settings.ts'
import type { Migration } from '../../migrate/migration.ts'
import type { Clocks } from '../../serve/bounds.ts'
import type { Operation } from '../../tables/operation.ts'

/** What a server gives to the fleet that it joins. */
export interface FleetSources {
  readonly config: Config
  readonly migration: Migration
  readonly operations: readonly Operation[]
  readonly log: Logger
  readonly clocks: Clocks
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
}
