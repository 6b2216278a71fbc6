import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const COMPILER = resolve('node_modules/typescript/bin/tsc')

/** Writes the settings of the compiler into a folder: the rules of this package, and the language of the tables by its name. */
export function writeSettings(folder: string, files: readonly string[]): string {
  const path = join(folder, 'tsconfig.json')
  const compilerOptions = {
    noEmit: true,
    rootDir: '/',
    typeRoots: [resolve('node_modules/@types')],
    paths: { 'crosswalk/tables': [resolve('src/tables/language.ts')] },
  }
  writeFileSync(path, JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, files, include: [], exclude: [] }))
  return path
}

/** What the compiler prints, whatever its exit code. */
export function compile(settings: string, ...flags: readonly string[]): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [COMPILER, '-p', settings, ...flags], { maxBuffer: 2 ** 26 }, (_, out) => done(out))
  })
}
