import { COMPARING, type Mode, SERVED_BY } from '../../../src/serve/sides.ts'

/** A stage of a migration, as the picture shows it. */
export interface Stage {
  readonly title: string
  /** The mode of the clients that have not moved; absent before there is traffic. */
  readonly mode?: Mode
  /** The mode of a share that grows to all clients. */
  readonly share?: Mode
  /** The command that says whether to go on, without `crosswalk`. */
  readonly command: string
}

export const STAGES: readonly Stage[] = [
  { title: 'Rehearse', command: 'replay' },
  { title: 'Shadow', mode: 'diff-v1', command: 'status' },
  { title: 'Rollout', mode: 'diff-v1', share: 'diff-v2', command: 'rollouts' },
  { title: 'v2, checked', mode: 'diff-v2', command: 'cutover' },
  { title: 'v2 alone', mode: 'v2', command: 'cutover --without-v1' },
]

const [WIDTH, BOX, STEP, LEFT] = [860, 148, 173, 10] as const

const STYLE = `
    text { font: 15px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
    .back { fill: #ffffff }
    .small { font-size: 13px; fill: #57606a }
    .code { font: 12px ui-monospace, "Liberation Mono", monospace }
    .strong { font-weight: 600 }
    .box { fill: #ffffff; stroke: #8c959f; stroke-width: 1.5 }
    .v1 { fill: #eaeef2 }
    .v2 { fill: #ddf4ff }
    path { fill: none; stroke: #57606a; stroke-width: 1.6 }
    .head { fill: #57606a; stroke: none }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 }
      text { fill: #e6edf3 }
      .small { fill: #9da7b3 }
      .box { fill: #161b22; stroke: #6e7681 }
      .v1 { fill: #30363d }
      .v2 { fill: #0c2d6b }
      path { stroke: #9da7b3 }
      .head { fill: #9da7b3 }
    }
  `

/** Draws the stages of a migration: who answers, what is compared, which command says whether to go on, and the way back. */
export function migrationPicture(stages: readonly Stage[] = STAGES): string {
  const [from, to] = [stages.findIndex(({ share }) => share), stages.findIndex(({ mode }) => mode && SERVED_BY[mode] === 'v2')]
  const [begin, end, right] = [xOf(from), xOf(to - 1) + BOX, xOf(stages.length - 1) + BOX]
  const first = xOf(stages.findIndex(({ mode }) => mode)) + BOX / 2
  const titled = `${stages.map(({ title }) => title).join(', ')}: the stages of a migration. v1 answers until the rollout, which gives all clients to v2. One request leads back.`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 310" width="${WIDTH}" height="310" role="img" aria-labelledby="t">
  <title id="t">${titled}</title>
  <style>${STYLE}</style>
  <defs>
    <marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
      <path class="head" d="M0 0 8 4 0 8z" />
    </marker>
  </defs>
  <rect class="back" width="${WIDTH}" height="310" rx="8" />
${stages.flatMap((stage, at) => boxOf(stage, at, at < stages.length - 1)).join('\n')}
  <rect class="v1" x="${LEFT}" y="184" width="${right - LEFT}" height="44" />
  <polygon class="v2" points="${begin},228 ${end},184 ${right},184 ${right},228" />
  <text x="${LEFT + 12}" y="211">v1 answers the clients</text>
  <text x="${right - 12}" y="211" text-anchor="end">v2 answers the clients</text>
  <path d="M${right - BOX / 2} 236V268H${first}V240" marker-end="url(#to)" />
  <text class="small" x="${(right - BOX / 2 + first) / 2}" y="290" text-anchor="middle">back at any time: one PUT /modes, active from the next request on</text>
</svg>
`
}

function xOf(at: number): number {
  return LEFT + at * STEP
}

function boxOf(stage: Stage, at: number, goesOn: boolean): readonly string[] {
  const x = xOf(at)
  const middle = x + BOX / 2
  const line = (y: number, text: string, kind: string) =>
    `  <text class="${kind}" x="${middle}" y="${y}" text-anchor="middle">${text}</text>`
  return [
    `  <rect class="box" x="${x}" y="16" width="${BOX}" height="112" rx="6" />`,
    line(40, `${at + 1} ${stage.title}`, 'strong'),
    ...linesOf(stage).map((text, nth) => line(64 + 20 * nth, text, 'small')),
    line(154, stage.command, 'code'),
    ...(goesOn ? [`  <path d="M${x + BOX} 72H${x + STEP - 4}" marker-end="url(#to)" />`] : []),
  ]
}

/** What the modes of a stage do, as the program defines them. */
function linesOf({ mode, share }: Stage): readonly string[] {
  if (!mode) return ['a recorded log', 'nothing is sent']
  const answered = share ? `1 to 100 % get ${SERVED_BY[share]}` : `clients get ${SERVED_BY[mode]}`
  const other = share ? 'both' : SERVED_BY[mode] === 'v1' ? 'v2' : 'v1'
  const compared = COMPARING.has(mode) ? (other === 'both' ? 'both are compared' : `${other} is compared`) : 'nothing is compared'
  return [share ? `${mode}, ${share}` : mode, answered, compared]
}
