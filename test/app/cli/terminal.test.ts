import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../../src/app/cli/run.ts'
import { colouredLine, isColoured, printable, withProgress } from '../../../src/app/cli/terminal.ts'
import { comparison, lines, shows, traffic } from '../../admin/report-stage.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { type Ran, runCommand, untilEscaped } from './support.ts'

describe('terminal', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-terminal-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  /** Clears the screen, colours text, returns to the line start, reverses the writing direction and adds a line. */
  const HOSTILE = 'a\u001b[2J\u009b31m\u007f\u200b\u202e\r\nFORGED \u2028FORGED '

  function expectHarmless({ out, err }: Ran): void {
    expect(out + err).toContain('\\u001b[2J\\u009b31m')
    expect((out + err).replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(`${out}\n${err}`).not.toMatch(/^FORGED/m)
  }

  /** An admin port that answers every request with `body`, one for clients with `clients`, and one for rollouts with none. */
  async function admin(body: unknown, clients = body): Promise<readonly string[]> {
    const answers: Readonly<Record<string, unknown>> = { '/clients': clients, '/rollouts': [] }
    const { url, close } = await startUpstream((request, ...rest) => answering(answers[request.url ?? ''] ?? body)(request, ...rest))
    onTestFinished(close)
    return ['--admin', url]
  }

  let files = 0
  function file(text: string): string {
    files += 1
    const path = join(directory, `${files}.ndjson`)
    writeFileSync(path, text)
    return path
  }

  const use = { operation: HOSTILE, calls: 1, firstSeen: 0, lastSeen: 0, modes: [HOSTILE], mismatches: 0 }
  const client = { caller: HOSTILE, subject: HOSTILE, calls: 1, lastSeen: 0, mismatches: 0, couldMove: false, operations: [use] }
  const clients = [{ ...client, blockers: [HOSTILE], cautions: [HOSTILE] }]
  const difference = { kind: 'value', at: HOSTILE, where: HOSTILE, v1: HOSTILE, v2: HOSTILE } as const
  const hostile = {
    at: new Date(0).toISOString(),
    operation: HOSTILE,
    mode: HOSTILE,
    shape: HOSTILE,
    caller: HOSTILE,
    outcome: 'mismatch' as const,
    ...shows(difference),
  }

  describe('no untrusted text acts on the terminal:', () => {
    it('clients', async () => {
      expectHarmless(await runCommand(['clients', ...(await admin(clients))]))
    })

    it('clients --csv', async () => {
      const { out } = await runCommand(['clients', '--csv', ...(await admin(clients))])
      expect(out.replaceAll('\r\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    })

    it('clients --json, which keeps the value', async () => {
      const ran = await runCommand(['clients', '--json', ...(await admin(clients))])
      expectHarmless(ran)
      expect(JSON.parse(ran.out)[0].subject).toBe(HOSTILE)
    })

    it('the guide of a client', async () => {
      const kind = { shape: HOSTILE, path: [['id', HOSTILE]], query: [['name', HOSTILE]], members: [HOSTILE], samples: 1 }
      const uses = ['iam.groups.list', 'registry.vuln_reports.list'].map((operation) => ({ ...use, operation, requests: [kind] }))
      const asked = await admin([{ ...clients[0], caller: 'aa', operations: [...uses, use] }])
      const { code, out, err } = await runCommand(['clients', 'aa', '--guide', ...asked])
      expect([code, err]).toEqual([0, ''])
      expectHarmless({ code, out, err })
    })

    it('cutover', async () => {
      const evidence = { operations: [], traffic: { [HOSTILE]: 1 }, strangers: { [HOSTILE]: 1 }, uncounted: 0, circuits: {}, queue: {} }
      expectHarmless(await runCommand(['cutover', ...(await admin(evidence, clients))]))
      expectHarmless(await runCommand(['cutover', '--operations', HOSTILE]))
      expectHarmless(await runCommand(['cutover', '--clients', HOSTILE.slice(1), ...(await admin(evidence, clients))]))
    })

    it.each([
      'GET /iam/v1/groups?x%1b[2J%c2%9b31m%0aFORGED=1',
      `GET /iam/v1/groups?x%0a${encodeURIComponent(HOSTILE)}=1`,
      `GET /iam/v1/groups?limit=${encodeURIComponent(HOSTILE)}`,
      `GET /iam/v1/${encodeURIComponent(HOSTILE)}`,
      `POST /iam/v1/groups/${encodeURIComponent(HOSTILE)}`,
    ])('explain %j', async (line) => {
      const { out, err } = await runCommand(['explain', line, '--data', '-'], {}, JSON.stringify({ name: HOSTILE, [HOSTILE]: 1 }))
      expect((out + err).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      expect(`${out}\n${err}`).not.toMatch(/^FORGED/m)
    })

    it('report', async () => {
      expectHarmless(await runCommand(['report', file(lines([comparison(1, hostile), traffic(HOSTILE, HOSTILE, 3)]))]))
    })

    it('replay of an access log and of records', async () => {
      const request = `192.0.2.7 - ${HOSTILE.replaceAll(/\s/g, '')} [10/Oct/2026:15:55:00 +0200] "GET /iam/v1/${HOSTILE.replaceAll(/\s/g, '')} HTTP/1.1" 200 5 "-" "-"`
      expectHarmless(await runCommand(['replay', file(`${request}\n`)]))
      expectHarmless(await runCommand(['replay', file(lines([comparison(1, hostile), traffic(HOSTILE, HOSTILE, 3)]))]))
    })

    it('case', async () => {
      const exhibit = { dialect: 'specification', operation: HOSTILE, params: {}, query: [], v1: { status: 200, body: HOSTILE }, v2: [] }
      const records = file(lines([{ ...comparison(1, hostile), id: 'one', exhibit } as never, { ...comparison(2, hostile), id: 'two' }]))
      expectHarmless(await runCommand(['case', 'one', '--records', records]))
      expectHarmless(await runCommand(['case', `two${HOSTILE}`, '--records', records]))
    })

    it('errors', async () => {
      expectHarmless(await runCommand([HOSTILE]))
      expectHarmless(await runCommand(['report', `/nowhere/${HOSTILE}`]))
      expectHarmless(await runCommand(['explain', `GET ${HOSTILE.replaceAll(/\s/g, '')}`]))
      expectHarmless(await runCommand(['serve', '--mode', HOSTILE]))
    })
  })

  it('keeps line breaks in whole texts but no lone carriage return', () => {
    const seen: string[] = []
    const io = printable({
      out: (line) => seen.push(line),
      err: (line) => seen.push(line),
      env: {},
      stdin: async () => '',
      untilStopped: async () => {},
      untilEscaped: async () => {},
    })
    io.text('a\r\nb\n\tc\rd\u001b')
    io.out('a\r\nb\n\tc')
    io.err('é 👍 漢')
    expect(seen).toEqual(['a\r\nb\n\tc\\u000dd\\u001b', 'a\\u000d\\u000ab\\u000a\tc', 'é 👍 漢'])
  })
})

describe('colours', () => {
  const ESCAPE = '\u001b'

  describe('colours', () => {
    it.each([
      [{}, true, true],
      [{}, false, false],
      [{ NO_COLOR: '1' }, true, false],
      [{ NO_COLOR: '' }, true, true],
      [{ FORCE_COLOR: '1' }, false, true],
      [{ FORCE_COLOR: '0' }, true, false],
      [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
      [{ TERM: 'dumb' }, true, false],
    ])('with %j on a terminal (%s): %s', (env, isTerminal, expected) => {
      expect(isColoured(env as Record<string, string>, isTerminal)).toBe(expected)
    })

    it('change nothing but the looks of a line', () => {
      for (const line of ['  ok   a', '  no   b', 'READY: c', 'NOT READY: d', 'e']) {
        expect(stripVTControlCharacters(colouredLine(line))).toBe(line)
      }
      expect(colouredLine('  no   b')).toContain(ESCAPE)
      expect(colouredLine('  nothing')).not.toContain(ESCAPE)
    })

    it('of the help are on a terminal alone', async () => {
      const plain = (await runCommand(['help', 'serve'])).out
      expect(plain).not.toContain(ESCAPE)
      const seen: string[] = []
      const io = { ...{ env: {}, stdin: async () => '', err: () => {}, untilEscaped, untilStopped: async () => {} }, isTerminal: true }
      await run(['help', 'serve'], { ...io, out: (line) => seen.push(line) })
      expect(seen.join('\n')).toContain(`${ESCAPE}[1mlog - The log on standard error:`)
      expect(stripVTControlCharacters(seen.join('\n'))).toBe(plain)
    })
  })

  describe('progress', () => {
    const screen = () => {
      const written: string[] = []
      let [at, look] = [0, () => {}]
      const pass = (ms: number) => {
        at += ms
        look()
      }
      const every = (_: number, ask: () => void) => {
        look = ask
        return () => {
          look = () => {}
        }
      }
      return { written, pass, screen: { write: (text: string) => void written.push(text), now: () => at, every } }
    }

    it('shows work of more than two seconds and clears its line', async () => {
      const { written, pass, screen: on } = screen()
      const done = await withProgress(on, 'reading a.log', async () => {
        pass(1500)
        pass(1000)
        pass(1000)
        return 'done'
      })
      const clear = `\r${ESCAPE}[2K`
      expect([done, written]).toEqual(['done', [`${clear}reading a.log, 2 s`, `${clear}reading a.log, 3 s`, clear]])
      pass(1000)
      expect(written).toHaveLength(3)
    })

    it('shows nothing for less, or without a terminal', async () => {
      const { written, pass, screen: on } = screen()
      await withProgress(on, 'x', async () => pass(1900))
      expect(await withProgress(undefined, 'x', async () => 1)).toBe(1)
      expect(written).toEqual([])
    })
  })
})
