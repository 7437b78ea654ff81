-- KEYS dead letters; ARGV operator, the pair's id, nonce.
-- -> {'OK'} | NOTFOUND
local operator, id, nonce = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = call('HGET', pair_key(id), 'u')
if not is_of(name, operator) then return {'NOTFOUND'} end
local key, field = bucket('a', id, nonce), int(nonce % 128)
local entry = call('HGET', key, field)
if not entry or math.floor(entry:byte(6) / 16) ~= DEAD then return {'NOTFOUND'} end
local sequence, list = read5(entry, 1), tag .. ':l:' .. name

local after
for _, other in ipairs(call('LRANGE', list, 0, -1)) do
  if tonumber(other) > sequence then after = other; break end
end
call('ZREMRANGEBYSCORE', KEYS[1], int(sequence), int(sequence))
call('HSET', key, field, entry:sub(1, 5) .. '\0')
if after then
  call('LINSERT', list, 'BEFORE', after, int(sequence))
else
  call('RPUSH', list, int(sequence))
end
call('ZADD', tag .. ':y:' .. operator, 'NX', int(now()), name:sub(#operator + 2))
return {'OK'}
