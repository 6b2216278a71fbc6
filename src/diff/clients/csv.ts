/** Cells that a spreadsheet would read as a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

/** RFC 4180, with a header line. A cell that looks like a formula is prefixed with an apostrophe, so that a spreadsheet does not run it. */
export function toCsv(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function cell(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
