import type { Caller } from '../records/record.ts'

/**
 * Returns the command that prints the guide of one client, ready to paste: `crosswalk clients 3f2a1b4c5d6e7f80 --guide`. It names the client
 * by its hash, because a subject may need quotes in a shell.
 */
export function guideCommand({ caller }: Pick<Caller, 'caller'>): string {
  return `crosswalk clients ${caller} --guide`
}
