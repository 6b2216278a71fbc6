/** Says how often something is called: `about 1,200 calls a day`, or `27 calls` where the time was too short. Empty if nobody counted. */
export function callsText({ calls, perDay }: { readonly calls?: number | undefined; readonly perDay?: number | undefined }): string {
  if (calls === undefined) return ''
  if (perDay === undefined) return `${number(calls)} ${calls === 1 ? 'call' : 'calls'}`
  return `about ${number(perDay)} ${perDay === 1 ? 'call' : 'calls'} a day, ${number(calls)} so far`
}

function number(count: number): string {
  return count.toLocaleString('en')
}
