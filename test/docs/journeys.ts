/**
 * The pages whose commands the tests run, in lists that one shell runs in order: a page may go on from those before it.
 * A page with commands that stands in none of them fails.
 */
export const MIGRATION: readonly string[] = [
  'docs/start/shadow.md',
  'docs/how-to/are-we-done.md',
  'docs/how-to/client-breaks.md',
  'docs/how-to/difference.md',
  'docs/how-to/canary.md',
  'docs/how-to/rollout.md',
  'docs/how-to/switch-off.md',
  'docs/how-to/guide-clients.md',
]

export const OPERATIONS: readonly string[] = [
  'docs/how-to/practise.md',
  'docs/how-to/restart.md',
  'docs/how-to/requests-fail.md',
  'docs/how-to/grpc-calls-fail.md',
  'docs/how-to/overload.md',
  'docs/how-to/tls.md',
  'docs/how-to/go-back.md',
  'docs/how-to/notifications.md',
  'docs/how-to/admin-port.md',
]

/** Pages that need no other, with the number of outputs that they show. */
export const ALONE: readonly (readonly [page: string, outputs: number])[] = [
  ['README.md', 1],
  ['docs/start/endpoint.md', 3],
  ['docs/how-to/rehearse.md', 2],
  ['docs/how-to/balancer.md', 1],
  ['docs/reference/library.md', 0],
  ['docs/reference/openapi.md', 1],
  ['docs/reference/sandbox.md', 4],
]
