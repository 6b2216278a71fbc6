import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import { digestOf } from './modes-document.ts'
import { type UnreadModes, unreadText } from './unread-modes.ts'

/** The modes of the changed configuration file, until the store has them. */
export interface FileWish {
  /** What is to be proposed; undefined if nothing is. */
  current(): { readonly rules: ModeRules; readonly by: Actor } | undefined
  /** Takes the modes of a file, of which the newest that was proposed has a digest. Returns true if they are to be proposed. */
  make(rules: ModeRules, by: Actor, newest: string | undefined, unread: UnreadModes | undefined): boolean
  /** Modes are in force that a file with this digest, or none, proposed last. */
  adopted(newest: string | undefined, version: number): void
  /** This version of Crosswalk cannot read the modes in the store, and does not replace them. */
  missed(unread: UnreadModes): void
}

/** What became of the modes of the file. `again`: they were proposed before, and are not proposed again. */
export type Proposed = 'again' | { readonly version: number } | { readonly problem: string }

export function createFileWish(proposed: (end: Proposed) => void): FileWish {
  let wish: ReturnType<FileWish['current']>
  const missed = (unread: UnreadModes) => {
    if (wish) proposed({ problem: unreadText(unread) })
  }
  return {
    current: () => wish,
    make(rules, by, newest, unread) {
      wish = digestOf(rules) === newest ? undefined : { rules, by }
      if (!wish) proposed('again')
      if (unread) missed(unread)
      return wish !== undefined
    },
    adopted(newest, version) {
      if (!wish || digestOf(wish.rules) !== newest) return
      wish = undefined
      proposed({ version })
    },
    missed,
  }
}
