/**
 * A value that only an answer of v2 will tell. It stands in a placeholder answer as text that survives percent-encoding, so that it can
 * be found again in the calls that a plan builds from it.
 */
export interface Marker {
  /** Number of the call that answers it, from 1. */
  readonly call: number
  /** Which row of a list answer holds it; 0: it stands in the answer itself. */
  readonly row: number
  /** Dotted path of the member. */
  readonly path: string
}

const MARKER = /CROSSWALK-(\d+)-(\d+)-([A-Za-z0-9_.]+)-END/g

export function markerText({ call, row, path }: Marker): string {
  return `CROSSWALK-${call}-${row}-${path}-END`
}

/** The markers in a text, in order. */
export function markersIn(text: string): readonly Marker[] {
  return [...text.matchAll(MARKER)].map(markerOf)
}

/** The text with every marker written as `write` says. */
export function replaceMarkers(text: string, write: (marker: Marker) => string): string {
  return text.replace(MARKER, (...match) => write(markerOf(match)))
}

function markerOf([, call, row, path = '']: readonly string[]): Marker {
  return { call: Number(call), row: Number(row), path }
}
