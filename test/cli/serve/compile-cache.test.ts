import { expect, it } from 'vitest'
import { keepCompiled } from '../../../src/app/cli/compile-cache.ts'

const home = () => '/home/somebody'
const noHome = () => {
  throw new Error('no such user')
}

it.each([
  ['the folder for caches of the user', { XDG_CACHE_HOME: '/var/cache' }, home, ['/var/cache/crosswalk']],
  ['the home, without such a folder', {}, home, ['/home/somebody/.cache/crosswalk']],
  ['the home, where the folder is no absolute path', { XDG_CACHE_HOME: 'cache' }, home, ['/home/somebody/.cache/crosswalk']],
  ['nowhere, for a user without a home', {}, noHome, []],
])('keeps what V8 compiled in %s', (_, env, home, expected) => {
  const folders: string[] = []
  keepCompiled(env, { enable: (folder) => folders.push(folder), home })
  expect(folders).toEqual(expected)
})
