/** Three significant digits: `0.1 %`, `0.0982 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`
}
