/** The ends of the axis of shares. It is logarithmic: from 1 % to 0.1 % is as far as from 10 % to 1 %. */
const LEAST = 0.00003
const MOST = 1

/** Shares that get a label. */
export const SHARE_TICKS = [0.0001, 0.001, 0.01, 0.1, 1] as const

/** Returns the position of a share on the axis, 0–1. */
export function shareAt(share: number): number {
  const clamped = Math.min(MOST, Math.max(LEAST, share))
  return Math.log(clamped / LEAST) / Math.log(MOST / LEAST)
}

/** Returns the position of a time on the axis of a span, 0–1. */
export function timeScale(span: { readonly from: number; readonly to: number }): (at: number) => number {
  const length = Math.max(1, span.to - span.from)
  return (at) => Math.min(1, Math.max(0, (at - span.from) / length))
}
