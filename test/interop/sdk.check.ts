import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { openRpc } from '../../src/grpc/proto-files.ts'
import type { Case } from '../compat/case.ts'
import { cases } from '../compat/cases/index.ts'
import { type Carried, type Client, carried } from '../compat/rpc/carry.ts'
import { compare } from '../compat/rpc/compare.ts'
import { grpcClient } from '../compat/rpc/grpc-client.ts'
import { type Sides, startSides } from '../compat/sides.ts'
import type { Target } from '../compat/target.ts'
import { lineClient } from './line-client.ts'
import { hasProgram, run } from './program.ts'

/** Compiling the SDK without a cache takes minutes. */
const COMPILING_MS = 540_000

/** Served methods that this version of the SDK does not have. */
const WITHOUT_CLIENT = [
  '/chainguard.platform.iam.IdentityProviders/GenerateScimToken',
  '/chainguard.platform.iam.IdentityProviders/RegenerateScimToken',
  '/chainguard.platform.iam.IdentityProviders/RevokeScimToken',
  '/chainguard.platform.iam.IdentityProviders/SetScimEnabled',
  '/chainguard.platform.registry.Registry/GetRepoTagsSummary',
]

/** The contract as the vendor's SDK sees it: each side is asked by the SDK's clients, which have logged in at that address. */
describe.runIf(hasProgram('go', 'version'))("the v1 contract over the vendor's Go SDK", () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-sdk-'))
  const program = join(folder, 'sdk')
  /** The methods for which the SDK has a client, and those that were called through Crosswalk. */
  let known: ReadonlySet<string>
  const called = new Set<string>()
  let sides: Sides
  let genuine: Carried
  let proxied: Carried

  /** A method that the SDK does not have is called by grpc-js. */
  const sdkClient = ({ url, token }: Target, seen = new Set<string>()): Client => {
    const refused = [token('stranger'), token('expired')].filter((one) => one !== undefined)
    const sdk = lineClient(spawn(program, [url, ...refused], { stdio: ['pipe', 'pipe', 'inherit'] }))
    const other = grpcClient(url)
    return {
      call(asked, ...more) {
        const { path } = asked.method
        if (!known.has(path)) return other.call(asked, ...more)
        seen.add(path)
        return sdk.call(asked, ...more)
      },
      close() {
        sdk.close()
        other.close()
      },
    }
  }

  beforeAll(async () => {
    const { code, text } = await run('go', ['build', '-o', program, './sdk'], { limitMs: COMPILING_MS })
    expect(code, text).toBe(0)
    known = new Set(JSON.parse((await run(program, [])).text))
    sides = await startSides('published')
    genuine = carried({ ...sides.genuine, run: 'sdk' }, sdkClient(sides.genuine))
    proxied = carried({ ...sides.proxied, run: 'sdk' }, sdkClient(sides.proxied, called))
  }, COMPILING_MS)

  afterAll(async () => {
    for (const side of [genuine, proxied]) side?.close()
    await sides?.close()
    rmSync(folder, { recursive: true })
  })

  const published = cases.filter(({ dialect = 'published' }) => dialect === 'published')
  const check = (one: Case) => compare(one, genuine, proxied)

  it.each(published.filter(({ reads }) => reads))('$name', check)
  it.concurrent.each(published.filter(({ reads }) => !reads))('$name', check)

  it('has called every served method', () => {
    const { methods } = openRpc(
      mappings.flatMap(({ operations }) => operations),
      readFacts(),
    )
    const served = methods.filter(({ version, operation }) => version === 'v1' && operation?.begin)
    const paths = served.map(({ path }) => path)
    expect(paths.filter((path) => known.has(path) && !called.has(path))).toEqual([])
    expect(paths.filter((path) => !known.has(path)).sort()).toEqual(WITHOUT_CLIENT)
  })
})
