import { beforeAll, describe, inject, test } from 'vitest'
import { cases } from '../../contract/cases/index.ts'
import { run } from '../../contract/run.ts'
import type { Target } from '../../contract/target.ts'
import { playable, readFlags, remoteTarget } from './target.ts'

const flags = readFlags(inject('contract'))
const chosen = playable(cases, flags)

describe(`the v1 contract at ${flags.target} over ${flags.over}, ${flags.dialect} dialect`, () => {
  let target: Target

  beforeAll(async () => {
    target = await remoteTarget(flags, console.log)
    console.log(`${chosen.length} of ${cases.length} cases, in organization ${target.organization}`)
  })

  test.each(chosen)('$name', async (one) => {
    const { failure } = await run(one, target)
    if (failure) throw failure
  })
})
