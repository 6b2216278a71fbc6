import { BlockList, isIP } from 'node:net'

export type IsTrusted = (address: string) => boolean

const FAMILIES = { 4: 'ipv4', 6: 'ipv6' } as const

/** Returns a test whether an address is in one of these networks. Without any, no address is trusted. */
export function createTrust(networks: readonly string[]): IsTrusted {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    if (family && prefix === undefined) list.addAddress(address, family)
    else if (family) list.addSubnet(address, Number(prefix), family)
  }
  return (address) => {
    const family = familyOf(address)
    return family !== undefined && list.check(address, family)
  }
}

/** True if only this machine can reach the address. */
export const isLoopback: IsTrusted = createTrust(['127.0.0.0/8', '::1'])

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  return FAMILIES[isIP(address) as keyof typeof FAMILIES]
}
