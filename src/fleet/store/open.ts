import { readStoreUrl, type Store } from './store.ts'

/**
 * Opens the store of `store.url`: `await openStore('redis://127.0.0.1:6379', 'default')`. A Redis that is not there rejects what it is
 * asked until it is. Throws an error, whose message is a sentence, if the URL or the file is wrong.
 */
export async function openStore(url: string, name: string): Promise<Store> {
  const address = readStoreUrl(url)
  if (address.carrier === 'file') {
    const { openFile } = await import('./file.ts')
    return (await openFile(address.path, Date.now)).open()
  }
  const { openRedis } = await import('./redis.ts')
  return openRedis(address, name)
}
