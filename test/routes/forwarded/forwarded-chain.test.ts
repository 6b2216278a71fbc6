import { describe, expect, it } from 'vitest'
import { addressIn, createTrust, elementText, parseForwarded, peerOf, vouchedHops } from '../../../src/serve/http/forwarded.ts'
import { processorMs } from '../../stage/own-time.ts'

const isTrusted = createTrust(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])

describe('trust', () => {
  it.each(['10.1.2.3', '192.0.2.7', '2001:db8::1', '2001:db8:ffff::1'])('is given to %s', (address) =>
    expect(isTrusted(address)).toBe(true),
  )

  it.each(['11.0.0.1', '192.0.2.8', '2001:db9::1', 'unknown', '', '10.0.0.1, 10.0.0.2', '010.1.2.3'])('is refused to %j', (address) =>
    expect(isTrusted(address)).toBe(false),
  )

  it('is given to no address by default', () => expect(createTrust([])('127.0.0.1')).toBe(false))
})

describe('hops', () => {
  it.each([
    ['a client that an untrusted peer claims is not believed', '203.0.113.9', ['198.51.100.1'], ['203.0.113.9']],
    ['a trusted peer names the client', '10.0.0.1', ['198.51.100.1'], ['198.51.100.1', '10.0.0.1']],
    ['what the client claims about itself is left out', '10.0.0.1', ['1.1.1.1', '198.51.100.1'], ['198.51.100.1', '10.0.0.1']],
    ['several trusted proxies', '10.0.0.1', ['1.1.1.1', '198.51.100.1', '2001:db8::2'], ['198.51.100.1', '2001:db8::2', '10.0.0.1']],
    ['trusted all the way', '10.0.0.1', ['10.0.0.3', '10.0.0.2'], ['10.0.0.3', '10.0.0.2', '10.0.0.1']],
    ['a name ends it', '10.0.0.1', ['198.51.100.1', 'unknown'], ['10.0.0.1']],
    ['an obfuscated name ends it', '10.0.0.1', ['_hidden', '10.0.0.2'], ['10.0.0.2', '10.0.0.1']],
    ['nothing claimed', '10.0.0.1', [], ['10.0.0.1']],
    ['ports are taken off', '10.0.0.1', ['198.51.100.1:4711'], ['198.51.100.1', '10.0.0.1']],
    ['an address hidden in IPv6', '10.0.0.1', ['198.51.100.1', '::ffff:10.9.9.9'], ['198.51.100.1', '10.9.9.9', '10.0.0.1']],
  ])('%s', (_, peer, claimed, hops) => expect(vouchedHops(peer, claimed, isTrusted)).toEqual(hops))

  it.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    [undefined, 'unknown'],
  ])('normalise the peer %j to %s', (address, peer) => expect(peerOf(address)).toBe(peer))

  it.each([
    ['[2001:db8::1]:80', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['192.0.2.1:80', '192.0.2.1'],
    ['192.0.2.1:x', undefined],
    ['[192.0.2.1', undefined],
    ['192.0.2.256', undefined],
    ['localhost', undefined],
    ['', undefined],
  ])('read the node %j as %s', (node, address) => expect(addressIn(node)).toBe(address))
})

describe('Forwarded', () => {
  const parsed = (text: string) => parseForwarded(text).map((element) => Object.fromEntries(element))

  it.each([
    ['for=192.0.2.43', [{ for: '192.0.2.43' }]],
    [
      'For="[2001:db8::17]:4711";proto=HTTPS;host="a.example:8000", for=10.0.0.1;by=x',
      [
        { for: '[2001:db8::17]:4711', proto: 'HTTPS', host: 'a.example:8000' },
        { for: '10.0.0.1', by: 'x' },
      ],
    ],
    ['for="a, for=1.1.1.1"', [{ for: 'a, for=1.1.1.1' }]],
    ['for="a\\"b"', [{ for: 'a"b' }]],
    ['', []],
    ['for=1.1.1.1,', [{ for: '1.1.1.1' }]],
    [', for=1.1.1.1, ,, for=2.2.2.2 , ', [{ for: '1.1.1.1' }, { for: '2.2.2.2' }]],
  ])('%s', (text, elements) => expect(parsed(text)).toEqual(elements))

  it.each(['for', 'for=a b', 'for="a', '=x', 'for=1.1.1.1;,', 'for=1.1.1.1, x y'])('is discarded whole if malformed: %j', (text) =>
    expect(parsed(text)).toEqual([]),
  )

  it('is written so that it can be read again', () => {
    const element = { for: '[::1]', host: 'a"b\\c,d;e', proto: 'https' }
    expect(elementText(element)).toBe('for="[::1]";host="a\\"b\\\\c,d;e";proto=https')
    expect(parsed(elementText(element))).toEqual([element])
  })

  it('is read in linear time', () => {
    expect(processorMs(() => parsed(`for="${'\\a'.repeat(30_000)}`))).toBeLessThan(500)
    expect(processorMs(() => parsed(', '.repeat(30_000)))).toBeLessThan(500)
    expect(processorMs(() => parsed('a=b;'.repeat(15_000)))).toBeLessThan(500)
  })
})
