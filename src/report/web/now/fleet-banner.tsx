import type { ReportFleet } from '../../fleet/report-fleet.ts'
import { sentencesOf } from './troubles.ts'

/** Says what is missing in the figures of a fleet, and which replica lacks what. The announcer tells it to screen readers once. */
export function FleetBanner({ fleet }: { readonly fleet: ReportFleet | undefined }) {
  if (!fleet) return null
  const sentences = sentencesOf(fleet)
  if (sentences.length === 0) return null
  return (
    <section class="banner is-fleet" aria-label="What is missing">
      <div>
        <strong>{fleet.problems.length > 0 ? 'These are not the figures of all replicas.' : 'A replica is not well.'}</strong>
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </div>
    </section>
  )
}
