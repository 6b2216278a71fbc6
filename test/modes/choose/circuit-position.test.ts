import { describe, expect, it } from 'vitest'
import { createPositions } from '../../../src/migrate/modes/select.ts'
import { operationOf } from '../../diff/given.ts'
import { seeded } from '../../stage/seeded.ts'

const list = operationOf('iam.groups.list')
const create = operationOf('iam.groups.create')
const always = () => 0

describe('a probe', () => {
  it('takes its share of the requests while the circuit is open', () => {
    const position = createPositions({ isOpen: () => true, percent: () => 10, random: seeded(1) })
    const probed = Array.from({ length: 10_000 }, () => position(list)).filter((one) => one === 'probed')
    expect(probed.length / 100).toBeCloseTo(10, 0)
  })

  it('takes nothing without a share, and nothing while the circuit is closed', () => {
    expect(createPositions({ isOpen: () => true, percent: () => 0, random: always })(list)).toBe('open')
    expect(createPositions({ isOpen: () => false, percent: () => 100, random: always })(list)).toBe('closed')
  })

  it('takes no write', () => {
    expect(createPositions({ isOpen: () => true, percent: () => 100, random: always })(create)).toBe('open')
  })
})
