/** An event that waits for the receiver. */
export interface Letter {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** The events that wait, oldest first. It holds a bounded number of events and bytes. */
export interface Outbox {
  /** Adds an event. Returns how many of the oldest had to make room for it; itself among them if it alone is too large. */
  add(letter: Letter): number
  /** Removes the oldest event and returns it. */
  take(): Letter | undefined
  /** Removes all. Returns how many there were. */
  clear(): number
  readonly size: number
}

export interface OutboxLimits {
  readonly events: number
  readonly bytes: number
}

/** The newest events stay if there is no room: they say how things stand now. */
export function createOutbox(limits: OutboxLimits): Outbox {
  const letters: Letter[] = []
  let bytes = 0
  const take = () => {
    const letter = letters.shift()
    if (letter) bytes -= Buffer.byteLength(letter.body)
    return letter
  }
  return {
    add(letter) {
      letters.push(letter)
      bytes += Buffer.byteLength(letter.body)
      let dropped = 0
      for (; letters.length > limits.events || bytes > limits.bytes; dropped += 1) take()
      return dropped
    },
    take,
    clear() {
      const left = letters.length
      letters.length = 0
      bytes = 0
      return left
    },
    get size() {
      return letters.length
    },
  }
}
