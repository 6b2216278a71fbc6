/** A number of bytes, or of places, that all users share. */
export interface Room {
  /** Takes `wanted` of them if that many are left. */
  take(wanted: number): boolean
  give(given: number): void
}

/** Calls `refused` when a request for room fails. */
export function createRoom(all: number, refused: () => void = () => {}): Room {
  let left = all
  return {
    take(wanted) {
      if (wanted > left) {
        refused()
        return false
      }
      left -= wanted
      return true
    },
    give(given) {
      left += given
    },
  }
}
