import { z } from 'zod'
import { SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts'
import { kindOf, shownValue } from './shown-value.ts'

/** The part of JSON Schema that describes a configuration file. */
interface SchemaNode {
  [member: string]: unknown
  properties?: Record<string, SchemaNode>
}

/** Returns the JSON Schema (draft 7, as editors read it) of a configuration file. */
export function configSchema(): SchemaNode {
  const root: SchemaNode = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'A configuration file of Crosswalk, in JSON (with comments) or YAML',
    ...group(),
  }
  root.properties = { $schema: { type: 'string', description: 'The address of this schema, for editors' } }
  for (const key of SETTING_KEYS) place(root, key.split('.'), ofSetting(key))
  return root
}

function place(node: SchemaNode, [name = '', ...rest]: readonly string[], schema: SchemaNode): void {
  node.properties ??= {}
  if (rest.length === 0) node.properties[name] = schema
  else {
    node.properties[name] ??= group()
    place(node.properties[name], rest, schema)
  }
}

function group(): SchemaNode {
  return { type: 'object', additionalProperties: false }
}

function ofSetting(key: SettingKey): SchemaNode {
  const { schema, inFile = schema } = kindOf(key)
  const { $schema: _, ...node } = z.toJSONSchema(inFile, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
  const byDefault = shownValue(key, SETTINGS[key].default)
  return { description: `${SETTINGS[key].help}.`, ...(byDefault !== undefined && { default: byDefault }), ...(node as SchemaNode) }
}
