import { type Flag, type Flags, textOf } from '../command.ts'

/** The flag that shortens a list. */
export const topFlag = {
  top: { help: 'Only the first N of the list, those with the most calls first. Totals still count all', value: 'N' },
} as const satisfies Readonly<Record<string, Flag>>

/** Returns how many rows are wanted, or a sentence about a wrong number. Infinite if the flag is not given. */
export function topOf(flags: Flags): { readonly top: number } | { readonly problem: string } {
  const text = textOf(flags, 'top')
  if (text === undefined) return { top: Number.POSITIVE_INFINITY }
  return /^[1-9]\d{0,6}$/.test(text)
    ? { top: Number(text) }
    : { problem: `--top is ${JSON.stringify(text)}, but it must be a whole number from 1 to 9999999.` }
}
