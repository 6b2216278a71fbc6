/** Where npm can prove which commit and which job built a package. */
const PROVERS = [
  ['GitHub Actions', 'ACTIONS_ID_TOKEN_REQUEST_URL'],
  ['GitLab CI', 'SIGSTORE_ID_TOKEN'],
]

/** What keeps a release from being published, a sentence each that says what to change. */
export function problemsOf({ manifest, lock, changelog, changed, tags, published, provenance, env }) {
  const { name, version, repository, homepage, bugs } = manifest
  const lacks = Object.entries({ 'repository.url': repository?.url, homepage, 'bugs.url': bugs?.url }).filter(([, value]) => !value)
  const checks = [
    [manifest.private === true, 'package.json is private: remove "private".'],
    [changed !== '', `The tree has changes: commit or remove them.\n${changed}`],
    [!tags.includes(`v${version}`), `The commit has no tag v${version}: git tag -s v${version}.`],
    [lock.version !== version || lock.packages[''].version !== version, `package-lock.json is not of version ${version}: npm install.`],
    [!isNewest(changelog, version), `CHANGELOG.md has no newest section "## ${version} - YYYY-MM-DD" with notes.`],
    [unreleased(changelog) !== '', 'CHANGELOG.md has unreleased notes: move them into the section of this version.'],
    [published === true, `The registry has ${name}@${version} already: choose the next version.`],
    [published === undefined, 'The registry does not tell whether it has this version: npm view must reach it.'],
    [
      lacks.length > 0,
      `package.json lacks ${lacks.map(([key]) => key).join(', ')}, by which the registry finds what README.md links to: npm pkg set.`,
    ],
    [
      provenance && !PROVERS.some(([, variable]) => env[variable]),
      `Only ${PROVERS.map(([where]) => where).join(' and ')} can prove what was built: start the job there, or pass --without-provenance.`,
    ],
  ]
  return checks.filter(([failed]) => failed).map(([, sentence]) => sentence)
}

/** The notes of each section by its heading. */
function sections(changelog) {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      return [heading, lines.join('\n').trim()]
    })
}

function unreleased(changelog) {
  return sections(changelog).find(([heading]) => heading === 'Unreleased')?.[1] ?? ''
}

function isNewest(changelog, version) {
  const [heading = '', notes = ''] = sections(changelog).find(([heading]) => heading !== 'Unreleased') ?? []
  return heading.startsWith(`${version} - `) && / \d{4}-\d\d-\d\d$/.test(heading) && notes !== ''
}
