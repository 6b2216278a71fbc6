import type { Quantiles } from '../../report.ts'
import { milliseconds } from '../format.ts'

/** Draws the latencies of both sides on one scale. */
export function Latency({ v1, v2 }: { readonly v1: Quantiles; readonly v2: Quantiles }) {
  const most = Math.max(v1.p95, v2.p95, 1)
  const rows = [
    ['v1', v1],
    ['v2', v2],
  ] as const
  return (
    <section aria-labelledby="latency">
      <h2 id="latency">Time to answer</h2>
      <table class="latency">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Side</th>
            <th scope="col">Median and 95th percentile</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { p50, p95 }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <svg class={`bar-pair is-${name}`} viewBox="0 0 400 16" aria-hidden="true">
                  <rect class="far" x="0" y="4" width={Math.max(2, (p95 / most) * 400)} height="8" />
                  <rect class="near" x="0" y="1" width={Math.max(2, (p50 / most) * 400)} height="14" />
                </svg>
                median {milliseconds(p50)}, 95 % within {milliseconds(p95)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
