import { readFile } from 'node:fs/promises'
import type { Dataset } from './dataset.ts'
import { demoDataset, emptyDataset } from './demo/demo.ts'
import { fileDataset } from './file.ts'
import { largeDataset } from './large.ts'

/** The initial data of a sandbox: a built-in set, a JSON file of v2-shaped resources, or the content of such a file. */
export type DataOption = 'demo' | 'empty' | 'large' | { readonly file: string } | Readonly<Record<string, readonly unknown[]>>

const readJson = async (file: string): Promise<unknown> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    error.path ??= file
    throw error
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`data: ${file} is not JSON: ${(error as Error).message}`)
  }
}

/** The dataset of an option. `now` is the sandbox's start in milliseconds; `tags` is the number of tags in `large`. */
export const openData = async (data: DataOption, now: number, tags?: number): Promise<Dataset> => {
  if (data === 'demo') return demoDataset(now)
  if (data === 'empty') return emptyDataset()
  if (data === 'large') return largeDataset(now, tags)
  try {
    return fileDataset('file' in data && typeof data.file === 'string' ? await readJson(data.file) : data, now)
  } catch (error) {
    // The command line ends with another exit code if what it was given is wrong.
    throw Object.assign(error as Error, { isMisuse: true })
  }
}
