/**
 * The rename of a page in Lua, for any JSON library: v2's names become v1's in answers, and the other way in bodies. A list keeps the
 * metatable by which some libraries know an empty one.
 */
export const RENAME = `
local V1 = { uid = 'group', accountAssociations = 'items', createTime = 'created_at', updateTime = 'updated_at', tenantId = 'tenant_id',
  clientIds = 'client_ids', appInstallations = 'app_installations', installationId = 'installation_id' }
local V2 = {}
for v2, v1 in pairs(V1) do V2[v1] = v2 end

local function path_of_v2(path)
  return (path:gsub('/v1/account_associations', '/v2/accountAssociations', 1))
end

local function renamed(value, names)
  if type(value) ~= 'table' then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, member in pairs(value) do copy[names[key] or key] = renamed(member, names) end
  return copy
end
`
