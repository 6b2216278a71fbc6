import { type Figure, round } from './figure.ts'

const BAR = 26
const LEFT = 500
const WIDTH = 1030

/** Draws every figure that has a bound as a share of it; the line at 1 is the bound. Returns an SVG document. */
export function plot(figures: readonly Figure[]): string {
  const bars = figures.flatMap((figure) => {
    const bound = Number(/[\d.]+/.exec(figure.must ?? '')?.[0])
    return figure.must && bound > 0 ? [{ figure, share: figure.value / bound }] : []
  })
  const scale = (WIDTH - LEFT - 120) / Math.max(1.2, ...bars.map(({ share }) => share))
  const height = (bars.length + 1) * BAR + 10
  const lines = bars.map(({ figure, share }, at) => {
    const y = at * BAR + 8
    const text = `${round(figure.value)} ${figure.unit} (${figure.must})`
    return `<text x="${LEFT - 8}" y="${y + 13}" text-anchor="end">${escaped(figure.what)}</text>
<rect x="${LEFT}" y="${y}" width="${(share * scale).toFixed(1)}" height="18" fill="${figure.holds ? '#4a7' : '#c55'}"/>
<text x="${(LEFT + share * scale + 6).toFixed(1)}" y="${y + 13}">${escaped(text)}</text>`
  })
  const bound = (LEFT + scale).toFixed(1)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH + 140}" height="${height}" font-family="sans-serif" font-size="12">
<title>Figures of npm run bench, each as a share of its bound</title>
<rect width="100%" height="100%" fill="#fff"/>
${lines.join('\n')}
<line x1="${bound}" y1="0" x2="${bound}" y2="${height - BAR + 4}" stroke="#333" stroke-dasharray="4 3"/>
<text x="${bound}" y="${height - 8}" text-anchor="middle">the bound</text>
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
