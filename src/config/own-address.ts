import type { Config } from './settings.ts'

/** The proxy's own listeners and the consequence of a service at that address. */
const OWN = {
  listen: 'every request would come back',
  admin: 'whoever reaches the proxy would reach its admin port',
} as const

/**
 * Returns one sentence if a service address is the proxy's own, otherwise undefined. Another name for the same address is found out only
 * when the first request comes back.
 */
export function leadsBack(config: Config): string | undefined {
  for (const upstream of ['upstream.v2', 'upstream.v1'] as const) {
    for (const own of ['listen', 'admin'] as const) {
      const address = config[upstream]
      if (address === undefined || !isAt(new URL(address), config[`${own}.host`], config[`${own}.port`])) continue
      return `${upstream} (${address}) is the proxy's own address (${own}.host, ${own}.port), so that ${OWN[own]}; give the address of the service.`
    }
  }
  return notifiesItself(config)
}

/** The address of the receiver is not shown: it may hold a token. */
function notifiesItself(config: Config): string | undefined {
  const address = config['notify.url']
  for (const own of ['listen', 'admin'] as const) {
    if (address === undefined || !isAt(new URL(address), config[`${own}.host`], config[`${own}.port`])) continue
    return `notify.url is the proxy's own address (${own}.host, ${own}.port), which takes no events; give the address of a receiver.`
  }
  return undefined
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function isAt({ protocol, hostname, port }: URL, host: string, at: number): boolean {
  return at !== 0 && Number(port || PORTS[protocol]) === at && isSameHost(hostname.replace(/^\[|\]$/g, ''), host)
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']
const EVERY = ['0.0.0.0', '::']

function isSameHost(name: string, host: string): boolean {
  if (name === host) return true
  if (EVERY.includes(host) || host === 'localhost') return LOOPBACK.includes(name)
  return name === 'localhost' && LOOPBACK.includes(host)
}
