-- Health of a ValkeyNode for Argo CD. No library of Lua is used: Argo CD has few.
local health = {status = "Progressing", message = "Waiting for the reconciler"}
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation or status.conditions == nil then
  return health
end

local ready = false
for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then
    ready = condition.status == "True"
    health.message = condition.message
  end
end
if ready then
  health.status = "Healthy"
end
for _, condition in ipairs(status.conditions) do
  local refused = condition.reason == "ApplyFailed" or condition.reason == "PersistentVolumeClaimResizeInfeasible"
  if condition.status == "False" and refused then
    health.status = "Degraded"
    health.message = condition.message
    return health
  end
end
return health
