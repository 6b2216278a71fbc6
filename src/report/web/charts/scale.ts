/** The axis of shares: logarithmic, because the way from 1 % to 0.1 % is as long as the one from 10 % to 1 %. */
const LEAST = 0.00003
const MOST = 1

/** Shares that get a label. */
export const SHARE_TICKS = [0.0001, 0.001, 0.01, 0.1, 1] as const

/** Where a share lies on the axis, 0–1. */
export function shareAt(share: number): number {
  const clamped = Math.min(MOST, Math.max(LEAST, share))
  return Math.log(clamped / LEAST) / Math.log(MOST / LEAST)
}

/** Where a time lies on the axis of a span, 0–1. */
export function timeScale(span: { readonly from: number; readonly to: number }): (at: number) => number {
  const length = Math.max(1, span.to - span.from)
  return (at) => Math.min(1, Math.max(0, (at - span.from) / length))
}
