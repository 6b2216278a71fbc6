import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileWithin, opened, smallFile } from '../../src/files.ts'
import { readEntries } from '../../src/migrate/records/record-file.ts'
import { openTraffic } from '../../src/tools/replay/traffic.ts'
import { runCommand } from './support.ts'

let folder: string
let pipes = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-pipes-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Makes a pipe with a name. */
function pipe(): string {
  pipes += 1
  const path = join(folder, `${pipes}.json`)
  execFileSync('mkfifo', [path])
  return path
}

/** Writes to a pipe from another process, after a while. */
function written(path: string, text: string): void {
  const file = `${path}.text`
  writeFileSync(file, text)
  execFile('sh', ['-c', `sleep 0.2; cat ${file} > ${path}`])
}

const SOON = 100

describe('a pipe to which nobody writes', () => {
  it('ends in a sentence', async () => {
    const path = pipe()
    const sentence = `${path} is a pipe to which nobody writes`
    await expect(opened(path, SOON)).rejects.toThrow(sentence)
    expect(() => smallFile(path, SOON)).toThrow(sentence)
  })

  it('is still a pipe for whoever comes later', async () => {
    const path = pipe()
    await expect(opened(path, SOON)).rejects.toThrow('nobody writes')
    written(path, 'late')
    expect(String(await fileWithin(path, 100))).toBe('late')
  })
})

describe('a pipe whose writer comes later', () => {
  const TEXT = 'a line\n'.repeat(20_000)

  it('is read whole as a file, and bounded as one', async () => {
    const [whole, long] = [pipe(), pipe()]
    written(whole, TEXT)
    expect(String(await fileWithin(whole, TEXT.length))).toBe(TEXT)
    written(long, TEXT)
    await expect(fileWithin(long, TEXT.length - 1)).rejects.toThrow(`${long} has more than ${TEXT.length - 1} bytes`)
  })

  it('is read whole as a file of settings', () => {
    const path = pipe()
    written(path, TEXT)
    expect(smallFile(path)).toBe(TEXT)
  })

  it('is read as records and as traffic', async () => {
    const [records, traffic] = [pipe(), pipe()]
    written(records, `${JSON.stringify({ kind: 'note', at: '2027-01-01T00:00:00.000Z', what: 'epoch', text: 'epoch 1 begins' })}\n`)
    const texts: unknown[] = []
    for await (const entry of readEntries(records)) texts.push(entry.kind)
    expect(texts).toEqual(['note'])
    written(traffic, TEXT)
    const { beginning, close } = await openTraffic({ name: traffic })
    expect(beginning.slice(0, 7)).toBe('a line\n')
    await close()
  })

  it('is a configuration file and a document of a command', async () => {
    const [config, data] = [pipe(), pipe()]
    written(config, '{ "upstream": { "v2": "http://127.0.0.1:1" }, "port": "none" }')
    const { code, err } = await runCommand(['serve', '--check', '--config', config])
    expect([code, err]).toEqual([2, expect.stringContaining(`${config} has an unknown key "port"`)])
    written(data, '{"name":"of a pipe"}')
    const explained = await runCommand(['explain', 'POST /iam/v1/groups', '--data', data])
    expect(explained.out).toContain('of a pipe')
  })
})
