import type { Logger } from 'pino'
import { adminTokens } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import type { DescribedDeclaration } from '../../migrate/compare/expected.ts'
import type { Migration } from '../../migrate/migration.ts'
import { type Certificate, readCertificate } from '../../serve/listen/listener.ts'
import type { Tables } from '../../tables/tables.ts'
import { declarationsWith } from '../declarations.ts'
import type { Front } from './front.ts'

/** How a running server takes other settings. */
export interface Reload {
  /**
   * Takes the values of live settings (`changedBetween`) from the next request on, or returns a sentence that says why it takes none of them.
   * Modes have a way of their own, `changeModes`.
   */
  reload(changes: Partial<Config>): string | undefined
  /** Shows the certificate that the files hold now to whoever connects from now on. Throws a sentence if they hold none. */
  certify(): void
}

interface Reloaded {
  /** The settings that every part reads. */
  readonly live: { -readonly [Key in keyof Config]: Config[Key] }
  readonly tables: Tables
  /** The declared differences that texts are read from. */
  readonly declarations: DescribedDeclaration[]
  readonly migration: Pick<Migration, 'journal'>
  readonly log: Pick<Logger, 'level' | 'info'>
  readonly front: Pick<Front, 'certify' | 'forget'>
  /** Is told of a new certificate. */
  readonly certified: (certificate: Certificate) => void
}

const OPENS =
  'without admin.token, admin.tokens and admin.readToken, everybody could change modes from now on; restart to open the admin port'

export function createReload({ live, tables, declarations, migration, log, front, certified }: Reloaded): Reload {
  return {
    reload(changes) {
      const next = { ...live, ...changes }
      if (adminTokens(live).length > 0 && adminTokens(next).length === 0) return `${OPENS}.`
      const declared = declarationsWith(next['diff.ignore'], tables)
      if ('problem' in declared) return declared.problem
      Object.assign(live, changes)
      log.level = live['log.level']
      front.forget?.()
      if ('diff.ignore' in changes) {
        declarations.splice(0, declarations.length, ...declared.declarations)
        migration.journal.expected.declare(declarations)
      }
      return undefined
    },
    certify() {
      const certificate = readCertificate(live['tls.key'], live['tls.cert'])
      if (!certificate) return
      front.certify?.(certificate)
      certified(certificate)
      log.info('the certificate changed: new connections get it')
    },
  }
}
