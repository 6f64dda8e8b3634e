-- Health of a ValkeyCluster for Argo CD. No library of Lua is used: Argo CD has few.
local health = {status = "Progressing", message = "Waiting for the reconciler to look at this generation"}
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end

local conditions = {}
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    conditions[condition.type] = condition
  end
end
local function is(kind)
  return conditions[kind] ~= nil and conditions[kind].status == "True"
end

if status.message ~= nil then
  health.message = status.message
end
if status.state == "Hibernated" then
  health.status = "Healthy"
  return health
end
if is("Stalled") then
  health.status = "Degraded"
  health.message = conditions.Stalled.message
  return health
end
if is("Degraded") then
  health.status = "Degraded"
  return health
end
if is("Ready") then
  health.status = "Healthy"
  return health
end

-- A shard that is to go gives its slots away. Argo CD prunes its StatefulSet last, and waits
-- for everything else to be healthy first: that may take as long as it has to.
local shards = 3
if obj.spec ~= nil and obj.spec.shards ~= nil then
  shards = obj.spec.shards
end
if is("Progressing") and conditions.Progressing.reason == "RebalancingSlots" and status.shardDetails ~= nil then
  for _, shard in ipairs(status.shardDetails) do
    if shard.index >= shards then
      health.status = "Healthy"
      return health
    end
  end
end
if obj.spec ~= nil and obj.spec.suspend then
  health.status = "Suspended"
end
return health
