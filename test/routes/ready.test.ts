import type { Agent } from 'undici'
import { expect, it } from 'vitest'
import { createReady } from '../../src/routes/ready.ts'

it('many who ask at once cost v2 one ping, and the next who asks another', async () => {
  const answers: ((statusCode: number) => void)[] = []
  const request = () =>
    new Promise((resolve) => {
      answers.push((statusCode) => resolve({ statusCode, body: { dump: async () => {} } }))
    })
  const whyNotReady = createReady({ request } as unknown as Agent, 'http://v2.example')
  const asked = Array.from({ length: 20 }, whyNotReady)
  expect(answers).toHaveLength(1)
  answers[0]?.(500)
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['the v2 service answers its ping with HTTP 500']))
  const again = whyNotReady()
  expect(answers).toHaveLength(2)
  answers[1]?.(401)
  expect(await again).toBeUndefined()
})
