import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from '../../upstream/self-signed.ts'
import type { Fault } from '../fault.ts'
import { upstreamFault } from './carriers.ts'

/** An upstream with an untrusted certificate is never asked, whatever carries the request. */
export const wrongCertificate: Fault = {
  name: 'a wrong certificate',
  expected: 'read 503/14 ×0 · write 503/14 ×0 · native 503/14 ×0 · v1 503/14 ×0; 0 requests got through',
  async see() {
    let asked = 0
    const server = https.createServer(selfSigned, (_, response) => {
      asked += 1
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const settings = { 'upstream.v2': url, 'upstream.v1': url }
    const refused = '503/14 ×0'
    const expected = { read: refused, write: refused, native: refused, v1: refused }
    const seen = await upstreamFault({ name: '', settings, expected }).see()
    await new Promise((resolve) => server.close(resolve))
    return `${seen}; ${asked} requests got through`
  },
}
