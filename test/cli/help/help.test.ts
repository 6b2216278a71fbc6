import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/app/cli/run.ts'
import { envOf, flagOf, SECTIONS, SETTING_KEYS, sectionOf } from '../../../src/app/config/settings.ts'
import { runCommand } from '../support.ts'

const helpOf = async (...words: readonly string[]) => (await runCommand(['help', ...words])).out

describe('the help', () => {
  it.each(['', ...Object.keys(COMMANDS)])('of %j has lines of at most 100 characters', async (words) => {
    const lines = (await helpOf(...words.split(' ').filter(Boolean))).split('\n')
    expect(lines.filter((line) => line.length > 100)).toEqual([])
  })

  it.each(Object.keys(COMMANDS))('of %s fits on a screen by --help and -h, which only name the sections of the settings', async (words) => {
    const text = await helpOf(...words.split(' '))
    expect(text).toMatch(/^crosswalk /)
    const short = (await runCommand([...words.split(' '), '--help'])).out
    expect((await runCommand([...words.split(' '), '-h'])).out).toBe(short)
    const titles = Object.entries(SECTIONS).flatMap(([section, about]) => (text.includes(`\n${section} - ${about}:\n`) ? section : []))
    if (titles.length < 4) return expect(short).toBe(text)
    expect(short.split('\n').length).toBeLessThan(70)
    for (const section of titles) expect(short).toMatch(new RegExp(`^ {2}${section} {2,}\\S`, 'm'))
    expect(short).toContain(`crosswalk help ${words} those of all.`)
  })

  it('of serve has every setting with its variable, in the sections of the settings', async () => {
    const text = await helpOf('serve')
    const titles = Object.entries(SECTIONS).map(([section, about]) => `${section} - ${about}:`)
    expect(text.split('\n').filter((line) => titles.includes(line))).toEqual(titles)
    for (const key of SETTING_KEYS) {
      expect(text).toMatch(new RegExp(`^  --${flagOf(key)} `, 'm'))
      expect(text).toMatch(new RegExp(`\\b${envOf(key)}$`, 'm'))
    }
  })

  // A command of the same name wins.
  it.each(Object.entries(SECTIONS).filter(([section]) => !(section in COMMANDS)))(
    'of the section %s has its settings alone',
    async (section, about) => {
      const text = await helpOf(section)
      expect(text.split('\n')[0]).toBe(`${section} - ${about}`)
      expect(text.split('\n').filter((line) => line.length > 100)).toEqual([])
      const flags = SETTING_KEYS.filter((key) => sectionOf(key) === section).map((key) => `--${flagOf(key)}`)
      expect(text.match(/^ {2}--[a-z0-9-]+/gm)?.map((flag) => flag.trim())).toEqual(flags)
    },
  )

  it('knows what a word was meant to be', async () => {
    expect(await runCommand(['help', 'limit'])).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "limits"?') })
  })

  it('shows words to choose from, and units', async () => {
    const text = await helpOf('serve')
    expect(text).toContain('  --mode v1|v2|diff-v1|diff-v2\n')
    expect(text).toContain('  --log-level trace|debug|info|warn|error|fatal|silent\n')
    expect(text).toContain('  --call-timeout-ms MS ')
    expect(text).toContain('  --answer-bytes BYTES ')
    expect(text).toContain('  --workers N|auto ')
  })

  it.each(Object.entries(COMMANDS))('of %s says what each flag takes', async (_, load) => {
    const { flags } = await load()
    const silent = Object.entries(flags).filter(([, { switch: isSwitch, value, choices }]) => !isSwitch && !value && !choices)
    expect(silent.map(([name]) => name)).toEqual([])
  })
})
