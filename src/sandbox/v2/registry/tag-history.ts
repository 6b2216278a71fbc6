import type { Tag, TagPoint } from '../../world/registry-model.ts'

/** The current target of a tag. */
const pointOf = ({ digest, updateTime }: Tag): TagPoint => ({ digest, updateTime })

/** Every target of a tag, oldest first, the current one last. */
export const pointsOf = (tag: Tag): readonly TagPoint[] => [...(tag.history ?? []), pointOf(tag)]

/** `tag` with its earlier targets. A write with the same digest adds none. */
export const remembering = (tag: Tag, previous: Tag | undefined): Tag => {
  if (!previous) return tag
  return { ...tag, history: previous.digest === tag.digest ? previous.history : pointsOf(previous) }
}
