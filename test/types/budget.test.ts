import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { compile, writeSettings } from './compile.ts'

/**
 * What the compiler may instantiate for tables, about a quarter above what it does. A type of the language that costs more makes every
 * editor slower, so that it needs a reason.
 */
const BUDGETS = [
  ['the tables of this package', 'mappings/index.ts', 27_000],
  ['the tables of the example', 'examples/resource-manager/tables.ts', 21_000],
  ['the draft of the example', 'examples/resource-manager/drafted.ts', 27_500],
] as const

it.each(BUDGETS)(
  'bounds the instantiations of types for %s',
  async (name, file, most) => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-budget-'))
    const out = await compile(writeSettings(folder, [resolve(file)]), '--extendedDiagnostics', '--singleThreaded')
    rmSync(folder, { recursive: true })
    const count = Number(/^Instantiations:\s+(\d+)/m.exec(out)?.[1])
    process.stderr.write(`${name}: ${count} instantiations of types, at most ${most}\n`)
    expect(out).not.toMatch(/error TS/)
    expect(count).toBeLessThan(most)
  },
  60_000,
)
