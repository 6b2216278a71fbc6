import type { Send } from '../../src/serve/calls.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import type { Call } from '../../src/tables/turn.ts'

export function sending(make: (call: Call) => Promise<JsonObject>): Send {
  return (call, landing) =>
    void make(call).then(
      (body) => landing.received(body),
      (error) => landing.failed(error),
    )
}

export function promised(send: Send): (call: Call) => Promise<JsonObject> {
  return (call) => new Promise((landed, failed) => send(call, { received: landed, failed }))
}
