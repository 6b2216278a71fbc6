import type { Kind } from '../server.ts'
import { apache } from './apache.ts'
import { haproxy } from './haproxy.ts'
import { lighttpd } from './lighttpd.ts'
import { nginx } from './nginx.ts'
import { squid } from './squid.ts'
import { trafficserver } from './trafficserver.ts'
import { varnish } from './varnish.ts'

export const KINDS: readonly Kind[] = [nginx, haproxy, apache, trafficserver, varnish, squid, lighttpd]
