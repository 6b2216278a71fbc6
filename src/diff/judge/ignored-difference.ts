import { DIFFERENCE_KINDS, describeSign, type IgnoreRule, type Sign } from '../../tables/signs.ts'
import type { DescribedDeclaration } from './expected.ts'

/** Returns what a rule of `diff.ignore` declares. `name` tells it from the others. */
export function ignoredDifference(rule: IgnoreRule, name: string): DescribedDeclaration {
  const sign = signOf(rule)
  const { reason, until } = rule
  return {
    code: `ignored:${name}`,
    operations: [rule.operations].flat(),
    signs: [sign],
    ignored: { reason, until },
    seen: `Ignored until ${new Date(until).toISOString()}: ${describeSign(sign).replaceAll('`', '')}.`,
    because: reason,
  }
}

const OTHER_KINDS = DIFFERENCE_KINDS.filter((kind) => kind !== 'status')

function signOf({ at, kinds, when, ...rule }: IgnoreRule): Sign {
  return {
    at: [at],
    kinds: kinds ?? (at === '' ? ['status'] : OTHER_KINDS),
    ...(when && { when }),
    ...(Object.hasOwn(rule, 'v1') && { v1: rule.v1 }),
    ...(Object.hasOwn(rule, 'v2') && { v2: rule.v2 }),
  }
}
