-- KEYS outbox; ARGV operator, then for each block of 128 nonces of a pair: the
-- pair's id, block, items; and for each item: nonce in the block, token or '', what
-- an entry of a: says after its sequence, '!' and the reason of a rejected one, else ''.
-- -> {'OK', a status for each item, entries of a: that stand, one for each CONFLICT}
--    | LATER when one is not sorted yet: nothing was changed
local operator = ARGV[1]
local ready, dead = tag .. ':y:' .. operator, tag .. ':d:' .. operator
local DONE, ALREADY, STALE, CONFLICT, NOTFOUND = '1', '2', '3', '4', '5'
local ms = now()
local statuses, conflicts, players, changed, list_removals, buried, unburied = {}, {}, {}, {}, {}, {}, {}

local function player_of(name)
  local p = players[name]
  if p then return p end
  local kept = call('HMGET', tag .. ':k:' .. name, 'h', 'n', 'f', 'T')
  p = {h = kept[1] or '', n = tonumber(kept[2] or '0'), f = tonumber(kept[3] or '0'), T = kept[4] or nil}
  players[name] = p
  return p
end

-- remove takes a sequence, as 5 bytes, from what is pending of a player.
local function remove(name, p, text)
  local h, at = p.h, 1
  if h:sub(1, 5) == text then
    p.h, p.f = h:sub(7), 0
  else
    repeat
      at = h:find(text, at, true)
      if not at then
        list_removals[#list_removals + 1] = {tag .. ':l:' .. name, int(read5(text, 1))}
        return
      end
      at = at + 1
    until at % 6 == 2
    at = at - 1
    p.h = h:sub(1, at - 1) .. h:sub(at + 6)
  end
  if at <= p.n * 6 then
    p.n = p.n - 1
    if p.n == 0 then p.T, p.over = nil, true end
  end
end

-- decide returns the status of one item of a player, and the entry that it makes.
local function decide(name, p, entry, token, reported, why)
  local head, text = entry:byte(6), entry:sub(1, 5)
  local stands = (head - head % 16) / 16
  if stands == ACKNOWLEDGED then
    return why == '' and entry:sub(6) == reported and ALREADY or CONFLICT
  end
  if stands == DEAD then
    if why ~= '' then return ALREADY end
    if token ~= '' then return STALE end
    unburied[text], buried[text] = true, nil
  else
    if token ~= '' and token ~= p.T then return STALE end
    remove(name, p, text)
  end
  if why == '' then return DONE, text .. reported end
  buried[text] = why:sub(2)
  return DONE, text .. string.char(DEAD * 16)
end

-- missing tells a settlement that is not sorted yet from one that is none.
local function missing(id, block, field)
  local record = call('HGET', tag .. ':r:' .. id .. ':' .. block, field)
  if not record or state(record) == OPEN then return NOTFOUND end
  local at, last = call('HGET', tag .. ':q:' .. operator, 'c') or '0', call('GET', KEYS[1]) or '0'
  return tonumber(at) < tonumber(last) and 'LATER' or NOTFOUND
end

local i = 2
while i <= #ARGV do
  local id, block, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  i = i + 3
  local name, key, fields, entries = call('HGET', pair_key(id), 'u'), tag .. ':a:' .. id .. ':' .. block, {}, {}
  local own = is_of(name, operator)
  for k = 1, count do fields[k] = ARGV[i + k * 4 - 4] end
  if own then
    for k, entry in ipairs(call('HMGET', key, unpack(fields))) do entries[fields[k]] = entry end
  end
  local p, writes = own and player_of(name), {}
  for k = 1, count do
    local at, field = i + k * 4 - 4, fields[k]
    local status, made = NOTFOUND, nil
    if entries[field] then
      status, made = decide(name, p, entries[field], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
    elseif own then
      status = missing(id, block, field)
    end
    if status == 'LATER' then return {'LATER'} end
    statuses[#statuses + 1] = status
    if status == CONFLICT then conflicts[#conflicts + 1] = entries[field] end
    if made then
      entries[field] = made
      writes[#writes + 1] = field
      writes[#writes + 1] = made
    end
  end
  if #writes > 0 then changed[key] = writes end
  i = i + count * 4
end

for key, writes in pairs(changed) do
  call('HSET', key, unpack(writes))
  call('PEXPIRE', key, int(KEPT_MS))
end
for text in pairs(unburied) do
  local sequence = int(read5(text, 1))
  call('ZREMRANGEBYSCORE', dead, sequence, sequence)
end
for text, why in pairs(buried) do
  local sequence = int(read5(text, 1))
  call('ZADD', dead, sequence, sequence .. ':' .. why)
end
for _, r in ipairs(list_removals) do call('LREM', r[1], 1, r[2]) end
for name, p in pairs(players) do
  local key, player = tag .. ':k:' .. name, name:sub(#operator + 2)
  if p.h == '' and call('EXISTS', tag .. ':l:' .. name) == 0 then
    call('DEL', key)
    call('ZREM', ready, player)
  else
    if p.T then
      call('HSET', key, 'h', p.h, 'n', int(p.n), 'f', int(p.f))
    else
      call('HSET', key, 'h', p.h, 'f', int(p.f))
      call('HDEL', key, 'n', 'T', 'E', 'C')
    end
    if p.over then call('ZADD', ready, int(ms), player) end
  end
end
return {'OK', table.concat(statuses), conflicts}
