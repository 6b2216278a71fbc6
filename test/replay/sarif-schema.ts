/** Returns the schema of an object with these members and no other. */
const closed = (required: readonly string[], properties: object) => ({ type: 'object', required, properties, additionalProperties: false })

/** A text that is not empty. */
const text = { type: 'string', minLength: 1 }
const level = { enum: ['none', 'note', 'warning', 'error'] }

/** A message is a text here. It has no other form. */
const message = closed(['text'], { text })

/** A rule. */
const rule = closed(['id'], { id: text, shortDescription: message, defaultConfiguration: closed([], { level }) })

/** A place in a file, and a place in what the file tells. */
const location = closed([], {
  // A URI reference. A space in it is written as %20.
  physicalLocation: closed(['artifactLocation'], {
    artifactLocation: closed(['uri'], { uri: { ...text, format: 'uri-reference' } }),
    region: closed([], { startLine: { type: 'integer', minimum: 1 } }),
  }),
  logicalLocations: { type: 'array', uniqueItems: true, items: closed([], { fullyQualifiedName: text, kind: text }) },
})

/** A finding. */
const result = closed(['message'], {
  ...{ ruleId: text, ruleIndex: { type: 'integer', minimum: 0 }, level, message },
  occurrenceCount: { type: 'integer', minimum: 1 },
  locations: { type: 'array', items: location },
  partialFingerprints: { type: 'object', additionalProperties: text },
})

/** SARIF 2.1.0 (OASIS), as far as Crosswalk writes it. It is stricter than the standard: a member that is not written is unknown. */
export const SARIF = closed(['version', 'runs'], {
  $schema: { ...text, format: 'uri' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    items: closed(['tool'], {
      tool: closed(['driver'], {
        driver: closed(['name'], { name: text, rules: { type: 'array', uniqueItems: true, items: rule } }),
      }),
      results: { type: 'array', items: result },
    }),
  },
})
