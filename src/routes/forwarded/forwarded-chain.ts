import { isIP } from 'node:net'
import type { IsTrusted } from './trust.ts'

/** What a socket says of its other end, the way it is compared and written: no IPv4 in IPv6, no zone. */
export function peerOf(remoteAddress: string | undefined): string {
  return (remoteAddress ?? 'unknown').replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*/s, '')
}

/** The address in a node of a forwarding header: `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80` (RFC 7239 §6); undefined if it names none. */
export function addressIn(node: string): string | undefined {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(node)?.[1] ?? /^([\d.]+):\d+$/.exec(node)?.[1] ?? node
  return isIP(address) ? peerOf(address) : undefined
}

/**
 * The way of a request as far as trusted proxies vouch for it: the client first, our own peer last. Each hop is believed only because the
 * hop after it is trusted, so the walk goes from our peer leftwards and ends at the first address that is not. What stands further left
 * was written by that client and is left out.
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
