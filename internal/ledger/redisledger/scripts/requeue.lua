-- KEYS dead letters; ARGV operator, the pair's id, nonce.
-- -> {'OK'}, also when it waits to be acknowledged already | NOTFOUND
--    | LATER when it is not sorted yet
-- What is put back comes before all later settlements of its player, but for those
-- that are leased now.
local operator, id, nonce = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = call('HGET', pair_key(id), 'u')
if not is_of(name, operator) then return {'NOTFOUND'} end
local key, field = bucket('a', id, nonce), int(nonce % 128)
local entry = entry_of(operator, name, id, nonce)
if entry == LATER then return {LATER} end
local stands = entry and math.floor(entry:byte(6) / 16)
if stands == PENDING then return {'OK'} end
if stands ~= DEAD then return {'NOTFOUND'} end
local sequence = read5(entry, 1)
local state, list, sorted = tag .. ':k:' .. name, tag .. ':l:' .. name, tag .. ':q:' .. operator

-- among_held returns where in h the sequence goes, nil when none of h is later, and
-- whether a leased one is.
local function among_held(h, leased)
  local overtaken = false
  for at = 1, #h, 6 do
    if read5(h, at) > sequence then
      if at > leased * 6 then return at, overtaken end
      overtaken = true
    end
  end
  return overtaken and #h + 1 or nil, overtaken
end

local function put_into_list()
  for _, other in ipairs(call('LRANGE', list, 0, -1)) do
    if read5(other, 1) > sequence then return call('LINSERT', list, 'BEFORE', other, entry:sub(1, 5)) end
  end
  return call('RPUSH', list, entry:sub(1, 5))
end

local kept, done = call('HMGET', state, 'h', 'n'), tonumber(call('HGET', sorted, 'w') or '0')
local h = kept[1] or ''
local at, overtaken = among_held(h, tonumber(kept[2] or '0'))
call('ZREMRANGEBYSCORE', KEYS[1], int(sequence), int(sequence))
call('HSET', key, field, entry:sub(1, 5) .. '\0')
call('PERSIST', key)
if done >= sequence then call('HSET', sorted, 'w', int(sequence - 1)) end
if at then
  call('HSET', state, 'h', h:sub(1, at - 1) .. entry:sub(1, 5) .. '\0' .. h:sub(at))
  if at == 1 then call('HSET', state, 'f', '0') end
  if overtaken then call('HSET', state, 's', '1') end
else
  put_into_list()
end
call('ZADD', tag .. ':y:' .. operator, 'NX', int(now()), name:sub(#operator + 2))
return {'OK'}
