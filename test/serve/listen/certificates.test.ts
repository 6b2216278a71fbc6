import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { ChannelCredentials, Client } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tables } from '../../../mappings/index.ts'
import { readTls } from '../../../src/app/config/certificates.ts'
import { configWith } from '../../../src/app/config/config.ts'
import { contradictionsIn } from '../../../src/app/config/contradictions.ts'
import { createServer } from '../../../src/app/server/server.ts'
import { expiryOf } from '../../../src/serve/listen/listener.ts'
import { type Echo, startEcho, unary } from '../../grpc/client.ts'
import { type Issued, openAuthorities } from '../../stage/authority.ts'
import { startStage, type TestProxy } from '../../stage/stage.ts'

describe('certificate', () => {
  const KEY = 'test/certificates/localhost.key'
  const CERT = 'test/certificates/localhost.crt'

  const readCertificate = (key: string | undefined, cert: string | undefined) =>
    readTls(configWith({ 'tls.key': key, 'tls.cert': cert })).port

  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-certificate-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('reads a certificate from two files', () => {
    const certificate = readCertificate(KEY, CERT)
    expect(certificate?.key).toContain('PRIVATE KEY')
    expect(certificate && expiryOf(certificate)).toBeGreaterThan(Date.now() / 1000)
    expect(readCertificate(undefined, undefined)).toBeUndefined()
  })

  it('refuses one file alone', () => {
    for (const [key, cert] of [
      [KEY, undefined],
      [undefined, CERT],
    ] as const) {
      expect(() => readCertificate(key, cert)).toThrow('tls.key and tls.cert go together: set both, or none for plain text')
    }
  })

  it('names a missing file', () => {
    expect(() => readCertificate(join(folder, 'none'), CERT)).toThrow(
      /^tls\.key cannot be read: there is no such file or folder \(.*none\)$/,
    )
  })

  it.each([
    ['empty', ''],
    ['no PEM', 'hello'],
  ])('refuses files that are %s', (name, text) => {
    const file = join(folder, name)
    writeFileSync(file, text)
    for (const [key, cert] of [
      [file, CERT],
      [KEY, file],
      [file, file],
    ] as const) {
      expect(() => readCertificate(key, cert)).toThrow(/^tls\.key \(.*\) and tls\.cert \(.*\) are not a key and its certificate in PEM: /)
    }
  })

  it('says that a key asks for a passphrase, and what to do', () => {
    const encrypted = join(folder, 'encrypted.key')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(encrypted, privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }))
    expect(() => readCertificate(encrypted, CERT)).toThrow('the key asks for a passphrase, and nobody can give it; write it without one: ')
  })

  it('refuses a key of another certificate before anything listens', () => {
    const other = join(folder, 'other.key')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(other, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const sentence = /^tls\.key \(.*other\.key\) and tls\.cert \(.*\) are not a key and its certificate in PEM: /
    expect(() => readCertificate(other, CERT)).toThrow(sentence)
    expect(() => createServer(configWith({ 'upstream.v2': 'http://127.0.0.1:1', 'tls.key': other, 'tls.cert': CERT }), tables)).toThrow(
      sentence,
    )
  })
})

describe('client certificates', () => {
  const authorities = openAuthorities()
  const servers = authorities.authority('servers')
  const clients = authorities.authority('clients')
  const strangers = authorities.authority('strangers')
  const alice = clients.issue('alice')
  const stranger = strangers.issue('stranger')
  const clientCa = `${authorities.folder}/client-ca.crt`

  let echo: Echo
  let proxy: TestProxy

  beforeAll(async () => {
    writeFileSync(clientCa, clients.pem)
    echo = await startEcho()
    const { key, cert } = servers.issue('proxy')
    proxy = await startStage({
      v1: null,
      v2: `http://${echo.address}`,
      proxy: { 'tls.key': key, 'tls.cert': cert, 'tls.clientCa': clientCa },
    })
  })

  afterAll(authorities.close)

  function run(program: string, args: readonly string[], input = ''): Promise<{ readonly code: unknown; readonly text: string }> {
    return new Promise((resolve) => {
      const child = execFile(program, args, { timeout: 20_000 }, (error, out, err) => resolve({ code: error?.code ?? 0, text: out + err }))
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    })
  }

  const GET = 'GET /iam/v1/groups HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  const connectAs = (issued: Issued, options: tls.ConnectionOptions = {}) =>
    tls.connect({ port: Number(new URL(proxy.url).port), host: '127.0.0.1', ca: servers.pem, ...issued.pem, ...options })

  /** Lets clients in whose certificates these authorities sign. */
  const trust = (pem: string) => {
    writeFileSync(clientCa, pem)
    proxy.certify()
  }
  afterEach(() => trust(clients.pem))

  const served = () => proxy.log.filter(({ msg }) => msg === 'request').length

  const WHO: readonly (readonly [string, Issued | undefined, boolean])[] = [
    ['a certificate of tls.clientCa', alice, true],
    ['a certificate of another authority', stranger, false],
    ['none', undefined, false],
  ]

  it.each(WHO)('curl with %s', async (_, issued, isServed) => {
    const before = served()
    const shown = issued ? ['--key', issued.key, '--cert', issued.cert] : []
    const about = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{http_version}', '--cacert', servers.ca]
    for (const version of ['--http2', '--http1.1']) {
      const { code, text } = await run('curl', [...about, version, ...shown, `${proxy.url}/iam/v1/groups`])
      if (isServed) expect([code, text]).toEqual([0, `503 ${version === '--http2' ? '2' : '1.1'}`])
      else expect([code === 0, text]).toEqual([false, '000 0'])
    }
    expect(served() - before).toBe(isServed ? 2 : 0)
  })

  it.each(WHO)('openssl s_client with %s', async (_, issued, isServed) => {
    const shown = issued ? ['-key', issued.key, '-cert', issued.cert] : []
    const to = ['s_client', '-connect', new URL(proxy.url).host, '-CAfile', servers.ca, '-verify_return_error', '-ign_eof']
    for (const version of ['-tls1_2', '-tls1_3']) {
      const { text } = await run('openssl', [...to, version, ...shown], GET)
      expect(text.includes('HTTP/1.1 503')).toBe(isServed)
    }
  })

  it.each(WHO)('grpc-js with %s', async (_, issued, isServed) => {
    const pair = issued ? [Buffer.from(issued.pem.key), Buffer.from(issued.pem.cert)] : []
    const secure = ChannelCredentials.createSsl(Buffer.from(servers.pem), ...pair)
    const client = new Client(new URL(proxy.url).host, secure, {
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.ssl_target_name_override': 'localhost',
    })
    const { messages, status } = await unary(client, 'Unary', 'hello').answer
    client.close()
    expect(isServed ? messages.map(String) : status.code).toEqual(isServed ? ['hello'] : 14)
  })

  it('follows the file of the authorities, and resumes no session that another one allowed', async () => {
    const answered = async (issued: Issued, session?: Buffer) => {
      const socket = connectAs(issued, session && { session })
      let kept: Buffer | undefined
      socket.on('session', (given) => {
        kept = given
      })
      socket.on('error', () => {})
      let text = ''
      let isResumed = false
      socket.once('secureConnect', () => {
        isResumed = socket.isSessionReused()
      })
      socket.on('data', (piece) => {
        text += piece
      })
      socket.write(GET)
      await once(socket, 'close')
      return { status: text.slice(0, 12), session: kept, isResumed }
    }
    const first = await answered(alice)
    expect(await answered(alice, first.session)).toMatchObject({ status: 'HTTP/1.1 503', isResumed: true })
    trust(strangers.pem)
    expect((await answered(alice, first.session)).status).toBe('')
    expect((await answered(stranger)).status).toBe('HTTP/1.1 503')
  })

  it('asks who is connected to connect again, and then its authority has gone', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: servers.pem, ...alice.pem })
    const ask = (): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const asked = https.get(`${proxy.url}/iam/v1/groups`, { agent }, (answer) => {
          answer.resume().once('end', () => resolve(`${answer.statusCode} ${answer.headers.connection}`))
        })
        asked.once('error', reject)
      })
    const session = http2.connect(proxy.url, { ca: servers.pem, ...alice.pem })
    await once(session, 'remoteSettings')
    const silent = connectAs(alice, { ALPNProtocols: ['h2'] })
    await once(silent, 'secureConnect')
    expect(await ask()).toBe('503 keep-alive')
    trust(strangers.pem)
    await once(session, 'close')
    expect(await ask()).toBe('503 close')
    await expect(ask()).rejects.toThrow()
    const late = http2.connect(proxy.url, { createConnection: () => silent })
    await once(late, 'close')
    agent.destroy()
  })

  it.each(['http/1.1', 'h2'])('asks who was still in the handshake to connect again (%s)', async (protocol) => {
    // Its handshake begins after that of the other, which the server took later.
    const early = net.connect(Number(new URL(proxy.url).port), '127.0.0.1')
    await once(early, 'connect')
    const other = connectAs(alice)
    await once(other, 'secureConnect')
    trust(strangers.pem)
    const secure = tls.connect({ socket: early, ca: servers.pem, ...alice.pem, ALPNProtocols: [protocol] })
    await once(secure, 'secureConnect')
    if (protocol === 'h2') await once(http2.connect(proxy.url, { createConnection: () => secure }), 'close')
    else {
      secure.write('GET /iam/v1/groups HTTP/1.1\r\nhost: a\r\n\r\n')
      expect(await text(secure)).toMatch(/^connection: close\r$/im)
    }
    other.destroy()
  })

  it('keeps what was there if a file is wrong', async () => {
    writeFileSync(clientCa, 'nothing')
    expect(() => proxy.certify()).toThrow(/^tls\.clientCa \(.*\) does not hold certificates of authorities in PEM: it holds none$/)
    writeFileSync(clientCa, clients.pem)
    const shown = ['--cacert', servers.ca, '--key', alice.key, '--cert', alice.cert]
    expect((await run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', ...shown, `${proxy.url}/iam/v1/groups`])).text).toBe('503')
  })

  it.each([
    [{ 'tls.clientCa': 'a' }, 'tls.clientCa is set without tls.cert, so the port speaks plain text'],
    [{ 'upstream.v2Key': 'a' }, 'upstream.v2Key and upstream.v2Cert go together: set both, or none to show no certificate.'],
    [{ 'upstream.v2': 'http://a.test', 'upstream.v2Ca': 'a' }, 'upstream.v2Ca is set, but upstream.v2 (http://a.test) speaks plain text'],
    [{ 'upstream.v2': 'https://a.test', 'upstream.v1Ca': 'a' }, 'upstream.v1Ca is set without upstream.v1'],
    [
      { 'upstream.v2': 'https://a.test/two', 'upstream.v1': 'https://a.test/one', 'upstream.v2Ca': 'a' },
      'upstream.v1 and upstream.v2 are one origin, but upstream.v1Ca and upstream.v2Ca differ; give both the same file.',
    ],
  ])('names what contradicts itself: %j', (values, sentence) => {
    expect(contradictionsIn(configWith(values)).join()).toContain(sentence)
  })

  it('names the setting and the file of what it cannot read', () => {
    expect(() => readTls(configWith({ 'upstream.v2': 'https://a.test', 'upstream.v2Ca': '/nope' }))).toThrow(
      'upstream.v2Ca cannot be read: there is no such file or folder (/nope)',
    )
  })
})
