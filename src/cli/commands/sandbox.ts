import { startSandbox } from '../../sandbox/start.ts'
import { type Command, endWith, MISUSED } from '../command.ts'
import { sandboxFlags, sandboxOptions } from '../sandbox-flags.ts'

/** Runs the sandbox alone: v2 and genuine v1 over one store. */
export const sandbox: Command = {
  usage: 'sandbox',
  summary: 'Runs a local v2 service with a genuine v1 beside it, in memory.',
  flags: { ...sandboxFlags, port: { help: 'The same as --sandbox-port', value: 'PORT' } },
  stays: {},
  async run(flags, _, io) {
    const read = sandboxOptions({ ...flags, 'sandbox-port': flags['sandbox-port'] ?? flags.port }, io)
    if ('problem' in read) return endWith(io, MISUSED, read.problem)
    const { url, organization, tokens, close } = await startSandbox(read.options)
    io.out(`The sandbox serves v2 and genuine v1 on ${url}.`)
    io.out(`Organization ${organization}; tokens ${Object.values(tokens).join(', ')}.`)
    await io.untilStopped()
    await close()
    return 0
  },
}
