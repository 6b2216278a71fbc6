import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { misuse } from '../../../errors.ts'
import type { DemoUser } from '../../../sandbox/data/data.ts'
import { SANDBOX_HOST, SANDBOX_PORT, startSandbox } from '../../../sandbox/start.ts'
import { variableIn } from '../../config/config.ts'
import { isBase, quotedValue } from '../../config/kinds.ts'
import { type Command, endWith, FAILED, type Flags, MISUSED, textOf } from '../command.ts'
import { checkVariables, sandboxFlags, sandboxOptions } from '../flags.ts'

/** Runs the sandbox alone: v2 and genuine v1 over one store. */
export const sandbox: Command = {
  usage: 'sandbox',
  summary: 'Runs a local v2 service with a genuine v1 beside it, in memory.',
  flags: { ...sandboxFlags, port: { help: 'The same as --sandbox-port', value: 'PORT' } },
  stays: {},
  async run(flags, _, io) {
    const options = sandboxOptions({ ...flags, 'sandbox-port': flags['sandbox-port'] ?? flags.port }, io)
    const { url, organization, tokens, close } = await startSandbox(options)
    io.out(`The sandbox serves v2 and genuine v1 on ${url}.`)
    io.out(`Organization ${organization}; tokens ${Object.values(tokens).join(', ')}.`)
    await io.untilStopped()
    await close()
    return 0
  },
}

const DEMO_USERS: readonly DemoUser[] = ['owner', 'editor', 'viewer', 'outsider', 'admin']

const DEFAULT_SANDBOX = `http://${SANDBOX_HOST}:${SANDBOX_PORT}`

/**
 * Asks a running sandbox for a signed token. The sandbox makes its key anew at every start. The vendor's SDK and Terraform provider read
 * `exp`, `aud` and `iss` of a token without verifying it; this one verifies at the sandbox as well.
 */
export const sandboxToken: Command = {
  usage: 'sandbox token',
  summary: 'Mints a signed token of the running sandbox: for a demo user, an identity, or a subject that an identity matches.',
  flags: {
    as: { help: 'Demo user. Default: owner', choices: DEMO_USERS, only: true },
    identity: { help: 'Uid of an identity, for an access token of that identity', value: 'UID' },
    subject: { help: 'Subject of an identity token that claimMatch can match, or that /sts/exchange takes', value: 'TEXT' },
    issuer: { help: "Issuer of the identity token: the sandbox's address, or an address below it", value: 'URL' },
    audience: { help: "Audience of the token. Default: the sandbox's address", value: 'URL' },
    lifetime: { help: 'Lifetime of the identity token in seconds. Default: 3600', value: 'SECONDS' },
    file: {
      help: 'File to write the token to, without a line break, where the SDK and the Terraform provider of the vendor read one',
      value: 'FILE',
    },
    url: { help: `Address of the sandbox. Default: ${DEFAULT_SANDBOX}, or port CROSSWALK_SANDBOX_PORT of this machine`, value: 'URL' },
  },
  async run(flags, _, io) {
    checkVariables(io)
    const port = variableIn(io.env, 'CROSSWALK_SANDBOX_PORT')
    const base = textOf(flags, 'url') ?? (port ? `http://127.0.0.1:${port}` : DEFAULT_SANDBOX)
    if (!isBase(base))
      throw misuse(
        `--url is ${quotedValue(base)}, but it must be an address such as ${DEFAULT_SANDBOX}, without credentials, query and fragment.`,
      )
    const lifetime = textOf(flags, 'lifetime')
    if (lifetime !== undefined && !/^[1-9]\d*$/.test(lifetime))
      return endWith(io, MISUSED, `--lifetime is ${JSON.stringify(lifetime)}, but it must be a whole number of seconds.`)
    const answer = await ask(base, flags).catch(() => undefined)
    if (!answer)
      throw new Error(`No sandbox answers on ${base}; start one with crosswalk demo or crosswalk sandbox, or give its address with --url.`)
    const body = (await answer.json()) as { token?: string; message?: string }
    if (!answer.ok || body.token === undefined) return endWith(io, FAILED, `The sandbox refused: ${body.message}`)
    const file = textOf(flags, 'file')
    if (file === undefined) io.out(body.token)
    else await write(file, body.token)
    return 0
  },
}

const OWNER_ALONE = 0o600

/** The vendor's clients send the file as it is, so a line break would break the header. */
async function write(file: string, token: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const handle = await open(file, 'w', OWNER_ALONE)
  try {
    await handle.chmod(OWNER_ALONE)
    await handle.writeFile(token)
  } finally {
    await handle.close()
  }
}

function ask(base: string, flags: Flags): Promise<Response> {
  const identity = textOf(flags, 'identity')
  const subject = textOf(flags, 'subject')
  const lifetime = textOf(flags, 'lifetime')
  const { issuer, audience } = flags
  if (identity !== undefined) return post(`${base}/-/token`, { identity, audience })
  if (subject === undefined) return exchange(base, textOf(flags, 'as') ?? 'owner', textOf(flags, 'audience') ?? base)
  return post(`${base}/-/token`, { subject, issuer, audience, ...(lifetime !== undefined && { lifetimeSeconds: Number(lifetime) }) })
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
}

/** Exchanges a demo user's fixed token for a signed one. */
function exchange(base: string, user: string, audience: string): Promise<Response> {
  return fetch(`${base}/sts/exchange?${new URLSearchParams({ aud: audience })}`, {
    method: 'POST',
    headers: { authorization: `Bearer demo-${user}` },
  })
}
