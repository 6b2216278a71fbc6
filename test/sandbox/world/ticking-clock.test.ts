import { expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'

test('does not mistake a clock tick for a requested expiry', async () => {
  let now = Date.UTC(2026, 4, 1)
  const tick = () => {
    now += 1
    return now
  }
  const { url, organization, tokens, close } = await startSandbox({ port: 0, now: tick })
  try {
    const create = async (body: object) => {
      const headers = { authorization: `Bearer ${tokens.owner}` }
      const answer = await fetch(`${url}/registry/v2/repos/${organization}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as { uid: string } }
    }
    const { body: source } = await create({ name: 'source' })
    expect(await create({ name: 'copy', sync_config: { source: source.uid } })).toMatchObject({ status: 200 })
  } finally {
    await close()
  }
})
