import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { tables } from '../../mappings/index.ts'
import { readTls } from '../../src/app/config/certificates.ts'
import { configWith } from '../../src/app/config/config.ts'
import { createServer } from '../../src/app/server/server.ts'
import { expiryOf } from '../../src/serve/listen/listener.ts'

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
  expect(() => readCertificate(join(folder, 'none'), CERT)).toThrow(/^tls\.key cannot be read: there is no such file or folder \(.*none\)$/)
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
