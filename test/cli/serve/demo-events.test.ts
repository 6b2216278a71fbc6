import { expect, it } from 'vitest'
import { startReceiver } from '../../../src/app/cli/commands/demo.ts'
import { run } from '../../../src/app/cli/run.ts'
import { untilEscaped } from '../support.ts'

it('shows an event of the sandbox that a request through the proxy caused', async () => {
  const lines: string[] = []
  let wake = () => {}
  let stop = () => {}
  const waitFor = async (fits: (line: string) => boolean): Promise<string> => {
    for (;;) {
      const found = lines.find(fits)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const code = run(['demo', '--http-sinks', '--port', '0', '--admin-port', '0', '--sandbox-port', '0', '--log-level', 'silent'], {
    ...{ env: {}, stdin: async () => '', err: () => {}, untilEscaped },
    out: (line) => {
      lines.push(line)
      wake()
    },
    untilStopped: () =>
      new Promise((resolve) => {
        stop = resolve
      }),
  })
  const post = async (fits: (line: string) => boolean) => {
    const [, token = '', body = '', url = ''] = /'Authorization: (.*?)' -X POST -d '(.*?)' '(.*?)'/.exec(await waitFor(fits)) ?? []
    return (await fetch(url, { method: 'POST', body, headers: { authorization: token } })).status
  }
  expect(await post((line) => line.includes('/events/v1/subscriptions/'))).toBe(200)
  expect(await post((line) => line.includes('/registry/v1/repos/'))).toBe(200)
  const event = await waitFor((line) => line.startsWith('event dev.chainguard.api.platform.registry.repo.created.v1, subject '))
  expect(event).toContain('"name":"hello"')
  const report = (await waitFor((line) => line.startsWith('  report '))).split(/\s+/).at(-1) ?? ''
  expect(report).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/report$/)
  const root = await fetch(new URL('/', report), { redirect: 'manual' })
  expect([root.status, root.headers.get('location')]).toEqual([302, '/report'])
  stop()
  expect(await code).toBe(0)
})

it('refuses what is no event', async () => {
  const shown: string[] = []
  const { url, close } = await startReceiver((line) => shown.push(line))
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400)
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(9000), headers: { 'ce-type': 'a', 'ce-subject': 'b' } })).status).toBe(204)
  expect(shown).toEqual([`event a, subject b: ${'x'.repeat(4096)}`])
  await close()
})
