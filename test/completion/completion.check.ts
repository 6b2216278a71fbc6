import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { COMMANDS } from '../../src/app/cli/run.ts'
import { runCommand } from '../cli/support.ts'
import { hasShell, SHELLS } from './shells.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

const operations = mappings.flatMap((mapping) => mapping.operations.map(({ id }) => id))

describe.each(SHELLS.map((shell) => [shell.name, shell] as const))('%s completes', (name, shell) => {
  const file = join(folder, name)
  const offers = async (line: string) => {
    writeFileSync(file, (await runCommand(['completion', name])).out)
    return [...shell.offers(file, line.split(' '))].sort()
  }

  it.runIf(hasShell(name)).each([
    ['crosswalk ser', ['serve']],
    ['crosswalk sandbox tok', ['token']],
    ['crosswalk sandbox token --as o', ['outsider', 'owner']],
    ['crosswalk serve --upstream-v2', ['', '-build', '-ca', '-cert', '-grpc', '-key'].map((end) => `--upstream-v2${end}`)],
    ['crosswalk serve --mode ', ['diff-v1', 'diff-v2', 'v1', 'v2']],
    ['crosswalk serve --port 1 --mode diff-v1 --dialect p', ['published']],
    ['crosswalk cutover --operations iam.groups.', operations.filter((id) => id.startsWith('iam.groups.')).sort()],
    ['crosswalk explain iam.groups.lis', ['iam.groups.list']],
    ['crosswalk help rol', ['rollouts']],
    ['crosswalk completion f', ['fish']],
  ])('%j', async (line, words) => {
    expect(await offers(line)).toEqual(words)
  })

  it.runIf(hasShell(name))('every first word of a command', async () => {
    const firsts = new Set(Object.keys(COMMANDS).map((words) => words.split(' ')[0] ?? ''))
    expect((await offers('crosswalk ')).filter((word) => !word.startsWith('-'))).toEqual([...firsts, 'help'].sort())
  })

  it.runIf(hasShell(name))('names of files', async () => {
    expect(await offers('crosswalk report package-l')).toEqual(['package-lock.json'])
    expect(await offers('crosswalk serve --config package-l')).toEqual(['package-lock.json'])
  })
})
