import { expect, it } from 'vitest'
import { invalidArgument, toV1 } from '../../src/errors.ts'

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
