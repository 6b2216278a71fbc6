/** The name and the logo. */
export function Brand() {
  return (
    <p class="brand">
      <Mark /> Crosswalk <span>report</span>
    </p>
  )
}

/** Two paths that become one. */
function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d="M3 6H9C13 6 12 18 16 18H21M3 18H8M16 6H21" />
    </svg>
  )
}
