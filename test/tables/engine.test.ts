import asc from 'assemblyscript/asc'
import { expect, it } from 'vitest'

const OPTIONS = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--initialMemory', '256', '--maximumMemory', '256']

/** `npm run wasm` writes the files. */
it.each([
  ['src/tables/text', 'engine-module'],
  ['src/grpc/encode', 'row-module'],
])(
  'is the engine that its source in %s makes',
  async (folder, file) => {
    const files = new Map<string, Uint8Array>()
    const { error, stderr } = await asc.main([`${folder}/engine/main.ts`, '--outFile', 'engine.wasm', ...OPTIONS], {
      writeFile: (name, contents) => void files.set(name, Buffer.from(contents)),
    })
    expect(error ?? undefined, stderr.toString()).toBeUndefined()
    const module = Buffer.from(files.get('engine.wasm') ?? []).toString('base64')
    const text = `/** The WebAssembly module that engine/main.ts is compiled to, in base64; \`npm run wasm\` writes it. */\nexport const ENGINE =\n  '${module}'\n`
    await expect(text).toMatchFileSnapshot(`../../${folder}/${file}.ts`)
  },
  60_000,
)
