import { compatSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import { readFacts } from '../../grpc/facts.ts'
import type { Tables } from '../../tables/tables.ts'
import type { SectionContext } from '../../tools/guide.ts'
import { guideBlocks, htmlPage, markdownOf } from '../../tools/guide-pages.ts'
import { createMethodNames, type Guide } from '../../tools/guide-request.ts'
import { type Flag, type Flags, type Io, textOf, writeText } from '../command.ts'
import { configFlags } from '../config-flags.ts'

/** The address of v2 in examples, if no setting gives one: that of the sandbox. */
export const DEFAULT_BASE = 'http://127.0.0.1:8090'

/** The flags of the settings that decide how v2 is called. */
export const callFlags = configFlags(['tables', 'upstream.v2', 'v1.dialect', 'v2.maskCase', 'v2.replaceMask', 'registry.readmes'])

/** The flags of a guide besides `--guide` and `--json`. */
export const guideFlags: Readonly<Record<string, Flag>> = {
  html: { help: 'File to write the guide to, as one self-contained page', value: 'FILE' },
}

export function guideContext(config: Config, { mappings, differences, topics }: Tables): SectionContext {
  const methods = createMethodNames(readFacts())
  return { mappings, differences, topics, methods, env: compatSettings(config), base: config['upstream.v2'] ?? DEFAULT_BASE }
}

/** Returns why the flags do not go together; undefined if they do. */
export function guideMisuse(flags: Flags): string | undefined {
  if (flags.html !== undefined && !flags.guide) return '--html goes with --guide.'
  return flags.html !== undefined && flags.json ? 'Choose one of --html and --json.' : undefined
}

/** Writes a guide as a page, as JSON or as Markdown. */
export function writeGuide(guide: Guide, flags: Flags, io: Io): Promise<number> {
  const file = textOf(flags, 'html')
  if (flags.json) return writeText(io, JSON.stringify(guide, null, 2), undefined)
  const blocks = guideBlocks(guide)
  return writeText(io, file === undefined ? markdownOf(blocks) : htmlPage(guide.title, blocks), file)
}
