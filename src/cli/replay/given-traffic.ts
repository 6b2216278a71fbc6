import { writeFile } from 'node:fs/promises'
import type { SarifLog } from '../../tools/replay/against.ts'
import { chosenReader } from '../../tools/replay/formats.ts'
import { readTraffic, type Traffic } from '../../tools/replay/traffic.ts'
import { type Flag, type Flags, type Io, textOf } from '../command.ts'

/** The flags that say how traffic is read, and where its findings are written to. */
export const trafficFlags: Readonly<Record<string, Flag>> = {
  format: {
    help: 'Format of the lines: a name, or a log_format of nginx such as \'$remote_addr [$time_local] "$request" $status\'',
    value: 'NAME',
  },
  fields: {
    help: "Names of members in lines of JSON: 'method=req.method,path=req.url,status=res.status,time=time'",
    value: 'PAIRS',
  },
  sarif: { help: 'File to write the findings to, as SARIF 2.1.0 for code hosts', value: 'FILE' },
}

/** Recorded traffic that the command line names. */
export interface GivenTraffic {
  /** As messages and findings call it. */
  readonly name: string
  open(): Promise<Traffic>
}

/** Returns the traffic at a path; `-` is standard input. Returns a sentence if the flags do not go together. */
export function givenTraffic(path: string, flags: Flags, io: Io): GivenTraffic | { readonly problem: string } {
  const reader = chosenReader(textOf(flags, 'format'), textOf(flags, 'fields'))
  if (reader && 'problem' in reader) return reader
  const name = path === '-' ? 'stdin' : path
  return { name, open: () => readTraffic({ name, bytes: path === '-' ? inputOf(io) : undefined }, reader) }
}

async function* inputOf({ input, stdin }: Io): AsyncGenerator<Uint8Array> {
  if (input) yield* input
  else yield Buffer.from(await stdin())
}

/** Writes the findings if `--sarif` asks for them. */
export async function writeSarif(flags: Flags, io: Io, findings: () => SarifLog): Promise<void> {
  const file = textOf(flags, 'sarif')
  if (file === undefined) return
  await writeFile(file, `${JSON.stringify(findings(), null, 2)}\n`)
  if (!flags.json) io.out(`written to ${file}`)
}
