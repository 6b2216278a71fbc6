import { readFileSync } from 'node:fs'

/** The commands of a page that no test runs as a whole, because they need a cluster or a real service: the lines after `$`. */
export function commandsOf(page: string): readonly string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```console\n(.*?)```/gs)].map(([, text = '']) => text)
  return blocks.flatMap((text) => [...text.matchAll(/^\$ (.+)$/gm)].map(([, line = '']) => line))
}
