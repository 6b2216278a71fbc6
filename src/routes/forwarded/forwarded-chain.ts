import { isIP } from 'node:net'
import type { IsTrusted } from './trust.ts'

/** Returns the peer's address in the form that is compared and written: no IPv4 in IPv6, no zone. */
export function peerOf(remoteAddress: string | undefined): string {
  return (remoteAddress ?? 'unknown').replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*/s, '')
}

/**
 * Returns the address in a node of a forwarding header:
 * `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80` (RFC 7239 §6); undefined if it names none.
 */
export function addressIn(node: string): string | undefined {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(node)?.[1] ?? /^([\d.]+):\d+$/.exec(node)?.[1] ?? node
  return isIP(address) ? peerOf(address) : undefined
}

/**
 * Returns the hops that trusted proxies vouch for, from the client to our peer. A hop is believed only if the hop after it is trusted. So
 * the walk goes left from our peer and ends at the first untrusted address. That client wrote everything further left, which is discarded.
 */
export function vouchedHops(peer: string, claimed: readonly string[], isTrusted: IsTrusted): readonly string[] {
  const nearestFirst = [peer]
  for (const node of claimed.toReversed()) {
    const address = isTrusted(nearestFirst.at(-1) ?? '') ? addressIn(node) : undefined
    if (address === undefined) break
    nearestFirst.push(address)
  }
  return nearestFirst.reverse()
}
