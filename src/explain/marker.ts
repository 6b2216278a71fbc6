/**
 * A value that only an answer of v2 contains. In a placeholder answer it is a text that percent-encoding does not change.
 * It can therefore be found in the calls that a plan builds from the answer.
 */
export interface Marker {
  /** Number of the call whose answer contains it, from 1. */
  readonly call: number
  /** The row of a list answer that contains it; 0 for the answer itself. */
  readonly row: number
  /** Dotted path of the member. */
  readonly path: string
}

const MARKER = /CROSSWALK-(\d+)-(\d+)-([A-Za-z0-9_.]+)-END/g

export function markerText({ call, row, path }: Marker): string {
  return `CROSSWALK-${call}-${row}-${path}-END`
}

/** Returns the markers in a text, in order. */
export function markersIn(text: string): readonly Marker[] {
  return [...text.matchAll(MARKER)].map(markerOf)
}

/** Returns the text with every marker replaced by `write`. */
export function replaceMarkers(text: string, write: (marker: Marker) => string): string {
  return text.replace(MARKER, (...match) => write(markerOf(match)))
}

/** Returns a value as words between angle brackets: `<uid of call 1>`, or `<name>` for a value of the request itself. */
export function inWords({ call, row, path }: Marker): string {
  if (call !== OF_REQUEST) return `<${path} of call ${call}>`
  return `<${row === 0 ? path : path.replaceAll('_', ' ')}>`
}

/** The number that stands for the request in place of a call. */
const OF_REQUEST = 0

/** Returns the text that stands for a value of the request itself. */
export function requestMarker(name: string): string {
  return markerText({ call: OF_REQUEST, row: 0, path: name })
}

/** Returns the text that stands for what is left of a window of `size` rows. */
export function leftMarker(size: number): string {
  return markerText({ call: OF_REQUEST, row: 1, path: `what_is_left_of_${size}` })
}

function markerOf([, call, row, path = '']: readonly string[]): Marker {
  return { call: Number(call), row: Number(row), path }
}
