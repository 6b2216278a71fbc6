import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { sources } from '../../architecture/sources.ts'

/** Imports that Node follows at once. `import type` is erased, and `import('…')` waits. */
const EAGER = /(?:^|\n)(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'/g

/** What a file loads, and what that loads. Packages have their names. */
function loadedBy(path: string, loaded = new Set<string>()): ReadonlySet<string> {
  const text = sources.find((source) => source.path === path)?.text ?? ''
  for (const [, name = ''] of text.matchAll(EAGER)) {
    const target = name.startsWith('.') ? normalize(join(dirname(path), name)) : name
    if (loaded.has(target)) continue
    loaded.add(target)
    loadedBy(target, loaded)
  }
  return loaded
}

const OF_CALLS = /^@bufbuild\/|^src\/grpc\/(?:proto-files|messages\/|encode\/|wire\/grpc|wire\/connect|calls\/(?!carrier))/

const ofCalls = (path: string) => [...loadedBy(path)].filter((one) => OF_CALLS.test(one))

it('loads what serves gRPC with the first call, and not at the start', () => {
  expect(ofCalls('src/app/server/server.ts')).toEqual([])
  expect(ofCalls('src/grpc/calls/calls.ts')).toEqual(expect.arrayContaining(['@bufbuild/protobuf', 'src/grpc/proto-files.ts']))
})
