/** The style of a page: readable on a screen, in both themes, and on paper. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --quiet: #5a626b; --line: #d5dae0; --ground: #fff; --box: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --quiet: #a3abb5; --line: #394049; --ground: #15181c; --box: #1e2328; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
h4 { font-size: .95rem; margin: 1.25rem 0 .4rem; color: var(--quiet); }
p, ul { margin: .5rem 0; max-width: 46rem; }
ul { padding-left: 1.25rem; }
.boxes { list-style: "\\2610\\00a0\\00a0"; }
code { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
p code, li code, td code, th code { background: var(--box); border-radius: 3px; padding: .05em .25em; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; white-space: pre-wrap; }
.remark { color: var(--quiet); }
.table { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .925rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th code, td code { overflow-wrap: normal; }
td:last-child { min-width: 14rem; }
thead th { color: var(--quiet); white-space: nowrap; }
:focus-visible { outline: 2px solid #2f6fde; outline-offset: 2px; }
@media print { body { font-size: 10pt; } main { max-width: none; padding: 0; } .table { overflow: visible; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
`
