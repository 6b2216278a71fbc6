import { Fragment } from 'preact'

/** Shows a name that may break after its dots and slashes, and nowhere else. */
export function Dotted({ name }: { readonly name: string }) {
  return (
    <span class="dotted">
      {name.split(/(?<=[./])/).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  )
}
