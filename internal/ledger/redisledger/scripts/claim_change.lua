-- KEYS outbox; ARGV operator, claim, end in ms, '' to give back, 0 to give back what
-- no wallet was told of, first delay in ms.
-- -> {'OK', players}
-- A claim that was given back counts for the delay, and never towards a dead letter.
local operator, claim, ending, backoff = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key, ready = tag .. ':j:' .. operator .. ':' .. claim, tag .. ':y:' .. operator
local made = read(key)
if not made then return {'OK', '0'} end
local ms, back, untold, changed = now(), ending == '' or ending == '0', ending == '0', 0

local function give_back(player, state, claims)
  if claims % 256 > 0 then claims = claims + (untold and -1 or 255) end
  call('HDEL', state, 'T', 'E', 'C', 'n')
  call('HSET', state, 'f', int(claims))
  call('ZADD', ready, int(ms + (untold and 0 or delay(claims, backoff))), player)
end

for field in pairs(made) do
  if field:sub(1, 1) == 'p' then
    local player = field:sub(2)
    local state = tag .. ':k:' .. operator .. ':' .. player
    local kept = call('HMGET', state, 'T', 'E', 'f')
    if kept[1] == made.t and tonumber(kept[2]) > ms then
      changed = changed + 1
      if back then
        give_back(player, state, tonumber(kept[3]))
      else
        call('HSET', state, 'E', ending)
        call('ZADD', ready, int(tonumber(ending) + delay(tonumber(kept[3]), backoff)), player)
      end
    end
  end
end
if back then
  call('DEL', key)
elseif tonumber(made.e) > ms then
  call('HSET', key, 'e', ending)
  call('PEXPIREAT', key, int(tonumber(ending) + 3600000))
end
return {'OK', int(changed)}
