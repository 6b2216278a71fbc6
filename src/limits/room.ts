/** Memory that many share. */
export interface Room {
  /** Takes so many bytes, if there are as many left. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** `refused` is told when somebody was given none. */
export function createRoom(bytes: number, refused: () => void): Room {
  let left = bytes
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
