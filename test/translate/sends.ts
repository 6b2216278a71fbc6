import type { JsonObject } from '../../src/tables/json.ts'
import type { Call } from '../../src/tables/plan/plan.ts'
import type { Send } from '../../src/translate/calls.ts'

/** Makes calls by a function that promises their answers. */
export function sending(make: (call: Call) => Promise<JsonObject>): Send {
  return (call, landing) =>
    void make(call).then(
      (body) => landing.landed(body),
      (error) => landing.failed(error),
    )
}

/** Makes calls whose answers are waited for. */
export function promised(send: Send): (call: Call) => Promise<JsonObject> {
  return (call) => new Promise((landed, failed) => send(call, { landed, failed }))
}
