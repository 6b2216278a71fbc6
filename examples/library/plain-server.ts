import { type Crosswalk, createCrosswalk } from 'crosswalk'

/** Serves v1 from the v2 service at `v2`, at a free port of its own. */
export async function startPlainServer(v2: string): Promise<Crosswalk> {
  const v1 = await createCrosswalk({ upstream: { v2 }, limits: { deadlineMs: 20_000 } })
  await v1.listen()
  return v1
}
