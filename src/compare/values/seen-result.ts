import type { SeenAnswer } from '../../migrate/compare/compare.ts'
import { errorForm, type SnapshotLimits, snapshotOf } from './snapshot.ts'

/** What one side did, as it is compared, and the characters that it takes in memory. */
export interface SeenResult {
  readonly seen: SeenAnswer & { readonly did: string }
  readonly size: number
}

/** What a result is shown with. */
export interface ShownWith extends SnapshotLimits {
  readonly show: ((result: never) => unknown) | undefined
}

/** The statuses that stand in records for what a function did. No function answers over HTTP. */
const STATUS = { returned: 200, threw: 422, 'gave up': 499, late: 504 } as const

export function seenReturn(value: unknown, { show, ...limits }: ShownWith): SeenResult {
  let shown: unknown
  try {
    shown = show ? show(value as never) : value
  } catch {
    return seenAs('returned', 'returned', { kind: 'no-value', because: 'a result that the option show cannot show' })
  }
  const { body, size } = snapshotOf(shown, limits)
  return { ...seenAs('returned', 'returned', body), size }
}

/** Errors are the same if they have the same name and code. Their messages often quote data, and are not compared. */
export function seenThrow(thrown: unknown, { isName }: ShownWith): SeenResult {
  const form = errorForm(thrown)
  const [name = ''] = Object.keys(form)
  return seenAs('threw', isName(name) ? `threw ${name}` : 'threw', { kind: 'json', value: { threw: form } })
}

export function seenLate(ms: number): SeenResult {
  return seenAs('late', `did not answer within ${ms} ms`)
}

/** The comparison ended before the side answered. */
export function seenGone(): SeenResult {
  return seenAs('gave up', 'was given up')
}

function seenAs(status: keyof typeof STATUS, did: string, body: SeenAnswer['body'] = { kind: 'json', value: undefined }): SeenResult {
  return { seen: { status: STATUS[status], headers: {}, body, did }, size: 0 }
}
