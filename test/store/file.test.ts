import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openFile } from '../../src/fleet/store/file.ts'
import { keepsTheContract, replicaOf } from './contract.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-store-'))
afterAll(() => rmSync(directory, { recursive: true }))

const NOW = 1_790_000_000_000
const at = () => NOW

describe('a store in a file', async () => {
  let now = NOW
  const memory = await openFile(join(directory, 'contract'), () => now)
  keepsTheContract({
    open: async () => memory.open(),
    async pass(ms) {
      now += ms
    },
  })
})

describe('the file of a store', () => {
  it('has all that does not belong to one process, when it is opened again', async () => {
    const path = join(directory, 'again')
    const first = replicaOf((await openFile(path, at)).open(), 'first')
    await first.store.replace('modes', 0, 'the modes')
    await first.send(
      { kind: 'add', name: 's', sums: { n: 2, ['__proto__']: 1 } },
      { kind: 'write', name: 't', field: 'f', text: '$map' },
      { kind: 'log', name: 'l', text: 'one', items: 9 },
      { kind: 'claim', key: 'k', at: NOW, ms: 1000, name: 'c', first: { n: 1 }, again: { repeats: 1 } },
      { kind: 'join', name: 'j', field: 'shapes', member: 'a', most: 9 },
      { kind: 'lease', name: 'leader', ms: 60_000 },
      { kind: 'beat', text: 'alive', ms: 60_000 },
    )
    const stamp = (await first.ask('sums', 's'))?.stamp
    await first.store.close()
    const second = replicaOf((await openFile(path, at)).open(), 'second')
    await second.send(
      { kind: 'claim', key: 'k', at: NOW, ms: 1000, name: 'c', first: { n: 1 }, again: { repeats: 1 } },
      { kind: 'join', name: 'j', field: 'shapes', member: 'a', most: 9 },
      { kind: 'log', name: 'l', text: 'two', items: 9 },
    )
    expect(await second.ask('sums', 's')).toEqual({ stamp, value: { n: 2, ['__proto__']: 1 } })
    expect(await second.value('texts', 't')).toEqual({ f: '$map' })
    expect((await second.value('log', 'l'))?.map(({ text, replica }) => [text, replica])).toEqual([
      ['one', 'first'],
      ['two', 'second'],
    ])
    expect(await second.value('sums', 'c')).toEqual({ n: 1, repeats: 1 })
    expect(await second.value('sums', 'j')).toEqual({ shapes: 1 })
    expect(await second.value('document', 'modes')).toEqual({ version: 1, text: 'the modes' })
    expect(await second.value('lease', 'leader')).toBeUndefined()
    expect(await second.value('replicas')).toEqual([])
    await second.store.close()
  })

  it('has an urgent batch and a new document before they are answered', async () => {
    const path = join(directory, 'urgent')
    const store = (await openFile(path, at)).open()
    await store.replace('modes', 0, 'the first')
    expect(readFileSync(path, 'utf8')).toContain('the first')
    const changes = [{ kind: 'mark', name: 'open', field: 'users.get', text: 'the circuit' }] as const
    await store.exchange({ replica: 'a', nth: 1, changes, reads: [], isUrgent: true })
    expect(readFileSync(path, 'utf8')).toContain('the circuit')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it.each([
    ['follows no link beside it', (aside: string, victim: string) => symlinkSync(victim, aside)],
    ['is for its owner alone, whatever stood beside it', (aside: string) => writeFileSync(aside, 'left', { mode: 0o666 })],
  ])('%s', async (name, leave) => {
    const [path, victim] = [join(directory, name), join(directory, `${name} victim`)]
    writeFileSync(victim, 'of somebody else')
    leave(`${path}.new`, victim)
    const store = (await openFile(path, at)).open()
    await store.replace('modes', 0, 'the modes')
    expect(readFileSync(victim, 'utf8')).toBe('of somebody else')
    expect([lstatSync(path).isFile(), statSync(path).mode & 0o777]).toEqual([true, 0o600])
    expect(readFileSync(path, 'utf8')).toContain('the modes')
    await store.close()
  })

  it.each([
    ['is cut off', (text: string) => text.slice(0, -9)],
    ['is empty', () => ''],
    ['is of something else', () => '{"modes":{}}'],
  ])('ends the start with a sentence if it %s', async (_, spoil) => {
    const path = join(directory, 'spoilt')
    rmSync(path, { force: true })
    await (await openFile(path, at)).open().close()
    writeFileSync(path, spoil(readFileSync(path, 'utf8')))
    await expect(openFile(path, at)).rejects.toThrow(`${path} is not a whole store of Crosswalk. Move it away to begin with an empty one`)
  })

  it('ends the start with a sentence if it cannot be written', async () => {
    await expect(openFile(join(directory, 'no/such/directory'), at)).rejects.toThrow('cannot be written: there is no such file')
    await expect(openFile(directory, at)).rejects.toThrow('cannot be read: it is a folder')
  })

  it('refuses a second process', async () => {
    const path = join(directory, 'shared')
    const first = (await openFile(path, at)).open()
    const second = (await openFile(path, at)).open()
    expect((await second.replace('modes', 0, 'second')).isReplaced).toBe(true)
    await expect(first.replace('modes', 0, 'first')).rejects.toThrow(`file:${path} cannot be written: another process writes this file`)
    await first.exchange({ replica: 'a', nth: 1, changes: [{ kind: 'beat', text: '', ms: 1 }], reads: [], isUrgent: false })
    const late = replicaOf(first, 'b').send({ kind: 'write', name: 't', field: 'f', text: 'first' })
    await expect(late).rejects.toThrow('another process')
    expect(readFileSync(path, 'utf8')).not.toContain('"first"')
  })
})
