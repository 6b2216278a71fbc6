import { BlockList, isIP } from 'node:net'

export type IsTrusted = (address: string) => boolean

const FAMILIES = { 4: 'ipv4', 6: 'ipv6' } as const

/** Tells whether an address is one of these addresses and networks. Without any, nobody is trusted. */
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

/** Whether only this machine reaches an address. */
export const isLoopback: IsTrusted = createTrust(['127.0.0.0/8', '::1'])

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  return FAMILIES[isIP(address) as keyof typeof FAMILIES]
}
