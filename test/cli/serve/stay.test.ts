import { expect, it } from 'vitest'
import { stay } from '../../../src/app/cli/stay.ts'
import { untilEscaped } from '../support.ts'

it('looks at everything that it watches at SIGHUP, and ends when it is asked to', async () => {
  const happened: string[] = []
  const note = (what: string) => () => void happened.push(what)
  const watch = (name: string) => ({ look: note(`look at ${name}`), end: note(`end ${name}`) })
  let hangUp = () => {}
  let stop = () => {}
  const io = {
    ...{ out: note('out'), err: note('err'), text: note('text'), env: {}, stdin: async () => '', untilEscaped },
    onHangup: (listener: () => void) => {
      hangUp = listener
    },
    untilStopped: () =>
      new Promise<void>((resolve) => {
        stop = resolve
      }),
  }
  const log = { fatal: note('fatal'), warn: () => {}, info: note('info') }
  const server = { close: async () => note('close')() }
  const code = stay(server, log, io as never, [watch('settings'), watch('certificate')])
  hangUp()
  hangUp()
  stop()
  expect(await code).toBe(0)
  const looks = ['info', 'look at settings', 'look at certificate']
  expect(happened).toEqual([...looks, ...looks, 'end settings', 'end certificate', 'close'])
})
