export const KIBIBYTE = 1024
export const MEBIBYTE = 1024 * KIBIBYTE

/** 1,000 for 1000. */
export function count(number: number): string {
  return String(number).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',')
}

/** 64 KiB for 65536, to the nearest whole one. */
export function inBytes(bytes: number): string {
  return bytes < MEBIBYTE ? `${count(Math.round(bytes / KIBIBYTE))} KiB` : `${count(Math.round(bytes / MEBIBYTE))} MiB`
}

/** 10 s for 10000 milliseconds. */
export function inTime(ms: number): string {
  return `${count(ms / 1000)} s`
}
