/** What to do when a metric moves, by its name. The others say it in their help. */
const MOVES: Readonly<Record<string, string>> = {
  crosswalk_requests_total:
    '`failed` rises: [requests fail](../how-to/requests-fail.md#requests-fail). `cancelled` rises: clients give up before v2 answers',
  crosswalk_request_duration_seconds: '[requests are slow](../how-to/overload.md#requests-are-slow)',
  crosswalk_requests_in_flight: 'close to `limits.requestsInFlight`: [overload](../how-to/overload.md#overload)',
  crosswalk_refused_total: '[overload](../how-to/overload.md#overload)',
  crosswalk_cut_total: 'rises: slow networks, or clients that hold places on purpose. See `limits.bodyTimeoutMs`, `limits.writeTimeoutMs`',
  crosswalk_unrelayable_total:
    'above 0: the service, or a balancer in front of it, writes heads that HTTP does not allow. The `cause` in the log says which',
  crosswalk_web_sockets: 'close to `limits.webSockets`: further handshakes get 503',
  crosswalk_upstream_up: '0: [v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_clock_ahead_seconds:
    'beyond 60 or -60: tokens, signatures and dates of removal go wrong. Look at the time service of both machines',
  crosswalk_v2_calls_total: 'rises without more requests: longer lists, or kept answers that expire sooner',
  crosswalk_v2_call_duration_seconds: '`unanswered` rises: [v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_parsed_pages_total: "rises: v2's answers look different than before. They are still correct, but slower",
  crosswalk_unknown_parameters_total: 'rises: a client misspells, or asks for something that v1 never had. The log names it',
  crosswalk_grpc_calls_total: '[gRPC calls fail](../how-to/grpc-calls-fail.md)',
  crosswalk_pool: '`queued` above 0: too few connections (`upstream.connections`)',
  crosswalk_comparisons_total:
    '`mismatch`, `transient`: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ). `error`, `inconclusive`: a side did not answer',
  crosswalk_uses_total:
    '`wrong`: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ). `unknown` and `alone`: `cutover --accounts` says why',
  crosswalk_comparison_jobs_total: '`failed`: a defect of Crosswalk, see the log. `dropped`: less evidence',
  crosswalk_circuit_open: '1: [v1 and v2 differ](../how-to/difference.md#v1-and-v2-differ)',
  crosswalk_evidence_bound:
    'falls with clean [observations](../why/evidence.md#what-counts), rises with wrong ones. `GET /evidence` has the bound of all replicas',
  crosswalk_evidence_needed: 'stands still: no new kinds of requests come',
  crosswalk_cutover_bound: 'at most `target`: [are we done?](../how-to/are-we-done.md) `whole` in `GET /evidence` is of all replicas',
  crosswalk_cutover_days: 'absent: an operation is not compared, or its pace is not known yet',
  crosswalk_canary_share: '0 while the circuit is open. Follows a [rollout](modes.md#rollouts)',
  crosswalk_rollout_phase: '`paused`, `turned-back`: [the reason](../how-to/rollout.md#a-rollout-does-not-go-on)',
  crosswalk_modes_version: 'grows: [who changed the modes](../how-to/go-back.md#who-changed-the-modes)',
  crosswalk_modes_drift: 'stays 1: write the rules into the [file](../how-to/go-back.md#for-good), or they are lost',
  crosswalk_fallbacks_total: '[v2 is down](../how-to/requests-fail.md#v2-is-down)',
  crosswalk_notifications_total: '`failed` or `dropped` rises: [events are lost](../how-to/notifications.md#events-are-lost)',
  crosswalk_store_up: '0: [the store is down](../how-to/store-down.md)',
  crosswalk_store_silent_seconds: 'above 5: [the store is down](../how-to/store-down.md)',
  crosswalk_store_foreign_key: 'it is there: [delete or rename the key](../how-to/store-down.md)',
  crosswalk_store_dropped_total: '`bad` above 0: `cutover` stays inconclusive in this epoch',
  crosswalk_store_exchange_duration_seconds: 'above 0.1 s: the store is slow',
  crosswalk_replicas: 'fewer than there are: [a replica is missing](../how-to/store-down.md#a-replica-is-missing)',
  crosswalk_records_dropped_total: 'rises: [the disk is full](../how-to/overload.md#the-disk-is-full)',
  crosswalk_certificate_expiry_seconds: '[the certificate is wrong](../how-to/tls.md#the-certificate-is-wrong)',
  crosswalk_event_loop_utilization: 'above 0.85: [overload](../how-to/overload.md#overload)',
  crosswalk_worker_event_loop_utilization: 'one is far above the others: few long connections carry the load',
  crosswalk_worker_deaths_total: 'rises: the log says how each ended',
  process_resident_memory_bytes: '[memory](../how-to/overload.md#memory-or-files-run-out)',
  process_open_fds: 'close to `process_max_fds`: [files](../how-to/overload.md#memory-or-files-run-out)',
}

const HEAD = `# Metrics

\`GET /metrics\` on the admin port answers in the format of Prometheus. The number of label values does not depend on what clients send.
[Alerts and a dashboard](../how-to/alerts.md) use them, and they can be [sent by OTLP](telemetry.md#metrics-by-otlp). Metrics of the store, workers and TLS are there only with these. The [glossary](../glossary.md) explains the words.

\`npm run docs\` makes this page from what a proxy exposes.

| Metric | Type | Means | When it moves |
|---|---|---|---|`

/** The page of all metrics, from what a proxy answers in the text format of Prometheus. */
export function metricsPage(exposed: string): string {
  const types = new Map([...exposed.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = '', type = '']) => [name, type]))
  const helps = new Map([...exposed.matchAll(/^# HELP (\S+) (.+)/gm)].map(([, name = '', help = '']) => [name, help]))
  const strays = Object.keys(MOVES).filter((name) => !types.has(name))
  if (strays.length > 0) throw new Error(`no metric is called ${strays.join(', ')}`)
  const rows = [...types].map(
    ([name, type]) => `| \`${name}\` | ${type} | ${(helps.get(name) ?? '').replaceAll('|', '\\|')} | ${MOVES[name] ?? '–'} |`,
  )
  return `${[HEAD, ...rows].join('\n')}\n`
}
