import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { createRefusedAttempts } from '../../../src/admin/admin.ts'

it('logs a bounded number of attempts, counts the others, and keeps lines for callers with a token', () => {
  const lines: { by: { token?: string }; suppressed?: number }[] = []
  let now = 0
  const log = { warn: (members: (typeof lines)[number]) => void lines.push(members) }
  const attempts = createRefusedAttempts(
    log as never,
    ({ raw: { headers } }) => ({ source: 'admin', ...(headers.authorization === 'known' && { token: 'alice' }), address: '127.0.0.1' }),
    () => now,
  )
  const attempt = (authorization: string) => {
    const headers = { authorization }
    const request = { method: 'PUT', headers, raw: { headers }, routeOptions: { url: '/modes' } } as FastifyRequest
    attempts(request, { statusCode: 401 } as FastifyReply, '{"code":16,"message":"no"}')
  }
  for (let nth = 0; nth < 1000; nth += 1) attempt('wrong')
  expect(lines).toHaveLength(20)
  attempt('known')
  expect(lines.at(-1)?.by.token).toBe('alice')
  now = 60_000
  attempt('wrong')
  expect(lines.at(-1)).toMatchObject({ suppressed: 980 })
  attempt('wrong')
  expect(lines.at(-1)).not.toHaveProperty('suppressed')
})
