import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'

/**
 * A sandbox on a free port without the demo's subscription. Nothing listens where that leads, and the sandbox would try to announce each
 * write there six times, over TLS.
 */
export async function startQuietSandbox(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: 0, ...options })
  const subscriptions = `${sandbox.url}/events/v1/subscriptions`
  const headers = { authorization: `Bearer ${sandbox.tokens.admin}` }
  const { items } = (await (await fetch(subscriptions, { headers })).json()) as { items: { id: string }[] }
  for (const { id } of items) await fetch(`${subscriptions}/${id}`, { method: 'DELETE', headers })
  await fetch(`${sandbox.url}/-/journal`, { method: 'DELETE' })
  return sandbox
}
