/** An event that waits for the receiver. */
export interface WaitingEvent {
  readonly id: string
  readonly type: string
  readonly body: string
  /** Is called when it was taken, refused or given up, but not if the proxy ended before. */
  readonly ended?: (() => void) | undefined
}

/** The events that wait, oldest first. It holds a bounded number of events and bytes. */
export interface Outbox {
  /** Adds an event. Returns how many of the oldest had to make room for it; itself among them if it alone is too large. */
  add(event: WaitingEvent): number
  /** Removes the oldest event and returns it. */
  take(): WaitingEvent | undefined
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
  const waiting: WaitingEvent[] = []
  let bytes = 0
  const take = () => {
    const event = waiting.shift()
    if (event) bytes -= Buffer.byteLength(event.body)
    return event
  }
  return {
    add(event) {
      waiting.push(event)
      bytes += Buffer.byteLength(event.body)
      let dropped = 0
      for (; waiting.length > limits.events || bytes > limits.bytes; dropped += 1) take()?.ended?.()
      return dropped
    },
    take,
    clear() {
      const left = waiting.length
      waiting.length = 0
      bytes = 0
      return left
    },
    get size() {
      return waiting.length
    },
  }
}
