import type { Command } from './command.ts'

/** The commands by the words that call them. Each is loaded when it is needed: `cutover` starts without the parts of a server. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./commands/demo.ts')).demo,
  serve: async () => (await import('./commands/serve.ts')).serve,
  config: async () => (await import('./commands/config.ts')).config,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  'sandbox token': async () => (await import('./commands/sandbox-token.ts')).sandboxToken,
  operations: async () => (await import('./commands/operations.ts')).operations,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
  explain: async () => (await import('./commands/explain.ts')).explain,
  clients: async () => (await import('./commands/clients.ts')).clients,
  cutover: async () => (await import('./commands/cutover.ts')).cutover,
  rollouts: async () => (await import('./commands/rollouts.ts')).rollouts,
  draft: async () => (await import('./draft/draft-command.ts')).draft,
  check: async () => (await import('./check/check-command.ts')).check,
  case: async () => (await import('./commands/case.ts')).mismatchCase,
  report: async () => (await import('./commands/report.ts')).report,
  replay: async () => (await import('./commands/replay.ts')).replay,
  completion: async () => (await import('./completion/completion.ts')).createCompletion(COMMANDS),
}
