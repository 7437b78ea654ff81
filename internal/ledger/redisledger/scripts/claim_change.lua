-- KEYS outbox; ARGV operator, claim, end in ms, '' to give back, first delay in ms.
-- -> {'OK', players}
local operator, claim, ending, backoff = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key, ready = tag .. ':j:' .. operator .. ':' .. claim, tag .. ':y:' .. operator
local made = read(key)
if not made then return {'OK', '0'} end
local ms, changed = now(), 0
for field in pairs(made) do
  if field:sub(1, 1) == 'p' then
    local player = field:sub(2)
    local state = tag .. ':k:' .. operator .. ':' .. player
    local kept = call('HMGET', state, 'T', 'E', 'f')
    if kept[1] == made.t and tonumber(kept[2]) > ms then
      changed = changed + 1
      local wait = delay(tonumber(kept[3]), backoff)
      if ending == '' then
        call('HDEL', state, 'T', 'E', 'C', 'n')
        call('ZADD', ready, int(ms + wait), player)
      else
        call('HSET', state, 'E', ending)
        call('ZADD', ready, int(tonumber(ending) + wait), player)
      end
    end
  end
end
if ending == '' then
  call('DEL', key)
elseif tonumber(made.e) > ms then
  call('HSET', key, 'e', ending)
  call('PEXPIREAT', key, int(tonumber(ending) + 3600000))
end
return {'OK', int(changed)}
