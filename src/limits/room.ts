/** So many bytes, or places, that all share. */
export interface Room {
  /** Takes so many, if there are as many left. */
  take(wanted: number): boolean
  give(given: number): void
}

/** `refused` is told when somebody was given none. */
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
