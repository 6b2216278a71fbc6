import { describe, expect, it } from 'vitest'
import { fromV2, invalidArgument, isSaid, toV1 } from '../src/errors.ts'

describe('from v2', () => {
  const GOOGLE = 'type.googleapis.com/google.rpc.'
  const errorInfo = { '@type': `${GOOGLE}ErrorInfo`, reason: 'NOT_FOUND', domain: 'iam.example.com' }
  const resourceInfo = { '@type': `${GOOGLE}ResourceInfo`, resourceType: 'iam.example.com/Group', resourceName: 'a' }

  const status = (code: number, ...details: unknown[]) => JSON.stringify({ code, message: 'said v2', details })

  const failure = (http: number, text: string) => fromV2({ status: http, headers: {}, text })

  describe('a 404', () => {
    it('is NOT_FOUND when it names the missing resource, with its details', () => {
      const error = failure(404, status(5, errorInfo, resourceInfo))
      expect(error).toMatchObject({ code: 'NOT_FOUND', message: 'said v2', details: [errorInfo, resourceInfo] })
      expect(isSaid(error, 'NOT_FOUND')).toBe(true)
    })

    it.each([
      ['of a gateway', 404, '{"code":5,"message":"Not Found","details":[]}'],
      ['without ErrorInfo', 404, status(5, resourceInfo)],
      ['without ResourceInfo', 404, status(5, errorInfo)],
      ['with details that are none', 404, status(5, null, 'ErrorInfo', { '@type': 'ResourceInfo' })],
      ['without details', 404, '{"code":5,"message":"Not Found"}'],
      ['of a load balancer', 404, '<html>not found</html>'],
      ['without a body', 404, ''],
      ['of another program', 404, '{"message":"no Route matched with those values"}'],
      ['in the words of v2, with another HTTP status', 502, status(5, errorInfo, resourceInfo)],
    ])('%s is an outage', (_, http, text) => {
      expect(failure(http, text)).toMatchObject({ code: 'UNAVAILABLE', http: 503, details: [] })
    })
  })

  describe('a 403', () => {
    it('of the service says something about the resource', () => {
      expect(isSaid(failure(403, status(7, errorInfo)), 'NOT_FOUND', 'PERMISSION_DENIED')).toBe(true)
    })

    it.each([
      ['of a gateway', status(7)],
      ['of a firewall', '<html>forbidden</html>'],
    ])('%s is an error and no more', (_, text) => {
      const error = failure(403, text)
      expect(error).toMatchObject({ code: 'PERMISSION_DENIED', foreign: true })
      expect(isSaid(error, 'PERMISSION_DENIED')).toBe(false)
    })
  })

  it('keeps what clients act on, however many headers say it', () => {
    const headers = { 'www-authenticate': ['Bearer', 'Basic realm="a"'], 'retry-after': ['7', '9'], 'set-cookie': ['a=1'] }
    expect(fromV2({ status: 401, headers, text: '' }).headers).toEqual({
      'www-authenticate': 'Bearer, Basic realm="a"',
      'retry-after': '7',
    })
  })
})

describe('to v1', () => {
  const manners = { missing: 'error', empty: {}, fieldName: (path: string) => path.replace('v2', 'v1') } as const

  it('a message names the fields as its violations do, each where it stands', () => {
    const { body } = toV1(
      invalidArgument(
        { field: 'v2_a', description: 'not v2_a: bad' },
        { field: 'same', description: 'x' },
        { field: 'v2_a', description: 'y' },
        { field: 'v2_b', description: '$& costs' },
      ),
      manners,
    )
    expect(body).toMatchObject({
      code: 3,
      message: 'Invalid argument: v1_a: not v2_a: bad; same: x; v1_a: y; v1_b: $& costs',
      details: [{ fieldViolations: [{ field: 'v1_a' }, { field: 'same' }, { field: 'v1_a' }, { field: 'v1_b' }] }],
    })
  })

  it('a message that does not repeat its violations stays as it is', () => {
    const error = invalidArgument({ field: 'v2_a', description: 'x' }, { field: 'v2_b', description: 'y' })
    const { body } = toV1(Object.assign(error, { message: 'v2_b: y alone' }), manners)
    expect(body).toMatchObject({ message: 'v1_b: y alone' })
  })
})
