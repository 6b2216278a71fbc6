import { lengthOf, type Make, type Shape } from './make.ts'

const LINES: readonly (readonly [name: string, line: (make: Make) => string])[] = [
  ['a NUL in a value', () => 'x-odd: a\x00b'],
  ['a carriage return in a value', () => 'x-odd: a\rb'],
  ['a request behind a bare carriage return', ({ hiddenWhole }) => `x-odd: a\r\r${hiddenWhole.trimEnd()}`],
  ['a request behind bare line feeds', ({ hiddenWhole }) => `x-odd: a\n\n${hiddenWhole.trimEnd()}`],
  ['a folded value', () => 'x-odd: a\r\n b'],
  ['a fold behind nothing', ({ hiddenWhole }) => `x-odd:\r\n ${hiddenWhole.split('\r\n')[0]}`],
  ['a line without a colon', () => 'x-odd'],
  ['a name that is empty', () => ': x'],
  ['a name with a space', () => 'x odd: x'],
  ['a name with a NUL', () => 'x\x00odd: x'],
  ['a name in brackets', () => '(odd): x'],
  ['a value of high bytes', () => 'x-odd: \xff\xfe\x80'],
  ['a value of 9 kB', () => `x-odd: ${'a'.repeat(9000)}`],
  ['a second host', () => 'host: elsewhere'],
  ['a second credential', () => 'authorization: Bearer ok.nobody'],
  ['a host with a line of its own', ({ hiddenWhole }) => `x-forwarded-host: garden ${hiddenWhole.split('\r\n')[0]}`],
  ['an only line feed as the line end', () => 'x-odd: a\nx-odd-2: b'],
]

/** Header lines. Each request has a body that contains the hidden one. */
export const headerShapes: readonly Shape[] = [
  ...LINES.map(
    ([name, line]): Shape => ({
      name: `a header: ${name}`,
      bytes: (make) =>
        make.head(
          'POST',
          make.pick([
            [line(make), lengthOf(make.hidden)],
            [lengthOf(make.hidden), line(make)],
          ]),
        ) + make.hidden,
    }),
  ),
  {
    name: 'a fold before the first header',
    bytes: (make) => make.head('POST', [lengthOf(make.hidden)]).replace('\r\n', '\r\n ') + make.hidden,
  },
  { name: 'no host', bytes: (make) => make.head('POST', [lengthOf(make.hidden)]).replace('host: garden\r\n', '') + make.hidden },
  { name: 'an empty line before the request', bytes: ({ head }) => `\r\n${head('GET')}` },
  {
    name: 'all lines end in line feeds',
    bytes: (make) => make.head('POST', [lengthOf(make.hidden)]).replaceAll('\r\n', '\n') + make.hidden,
  },
]
