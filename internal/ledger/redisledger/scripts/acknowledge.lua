-- KEYS outbox; ARGV operator, then for each item: the pair's id, nonce, token or
-- '', form of the wallet transaction, the transaction, reason with a '!' before it
-- of a rejected one, else ''.
-- -> {'OK', for each item: status, and what ack_of says of the one that stands}
--    | LATER when one is not sorted yet: nothing was changed
local operator = ARGV[1]
local ready, dead = tag .. ':y:' .. operator, tag .. ':d:' .. operator
local DONE, ALREADY, STALE, CONFLICT, NOTFOUND = '1', '2', '3', '4', '5'
local ms = now()
local answers, players, entries, list_removals, buried, unburied = {'OK'}, {}, {}, {}, {}, {}
local owners = {}

local function owner(id)
  local name = owners[id]
  if name == nil then
    name = call('HGET', pair_key(id), 'u')
    owners[id] = name
  end
  return name
end

local function player_of(name)
  local p = players[name]
  if p then return p end
  local kept = call('HMGET', tag .. ':k:' .. name, 'h', 'n', 'f', 'T')
  p = {h = kept[1] or '', n = tonumber(kept[2] or '0'), f = tonumber(kept[3] or '0'), T = kept[4] or nil}
  players[name] = p
  return p
end

-- remove takes a sequence from what is pending of a player.
local function remove(name, p, sequence)
  local text, from = number5(sequence), 1
  while true do
    local at = p.h:find(text, from, true)
    if not at then break end
    if at % 6 == 1 then
      p.h = p.h:sub(1, at - 1) .. p.h:sub(at + 6)
      if at == 1 then p.f = 0 end
      if at <= p.n * 6 then
        p.n = p.n - 1
        if p.n == 0 then p.T, p.over = nil, true end
      end
      return
    end
    from = at + 1
  end
  list_removals[#list_removals + 1] = {tag .. ':l:' .. name, int(sequence)}
end

-- decide returns the status of one item, and the entry that stands.
local function decide(id, nonce, token, form, transaction, why)
  local name = owner(id)
  if not is_of(name, operator) then return NOTFOUND end
  local key, field = bucket('a', id, nonce), int(nonce % 128)
  local block = entries[key]
  if not block then block = {}; entries[key] = block end
  local entry = block[field] or call('HGET', key, field)
  if not entry then
    local record = call('HGET', bucket('r', id, nonce), field)
    if not record or state(record) == OPEN then return NOTFOUND end
    local at, last = units(call('HGET', tag .. ':q:' .. operator, 'c') or '0'), units(call('GET', KEYS[1]) or '0')
    return at < last and 'LATER' or NOTFOUND
  end
  local stands = math.floor(entry:byte(1) / 16)
  local reported = string.char(ACKNOWLEDGED * 16 + form) .. entry:sub(2, 6) .. transaction
  if stands == ACKNOWLEDGED then return why == '' and entry == reported and ALREADY or CONFLICT, entry end
  if stands == DEAD and why ~= '' then return ALREADY end
  local p = player_of(name)
  if token ~= '' and (stands == DEAD or token ~= p.T) then return STALE end

  local sequence = read5(entry, 2)
  if stands == DEAD then
    unburied[#unburied + 1] = int(sequence)
  else
    remove(name, p, sequence)
  end
  if why ~= '' then
    reported = string.char(DEAD * 16) .. entry:sub(2, 6)
    buried[int(sequence)] = why:sub(2)
  else
    buried[int(sequence)] = nil
  end
  block[field] = reported
  return DONE
end

for i = 2, #ARGV, 6 do
  local status, entry = decide(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4], ARGV[i + 5])
  if status == 'LATER' then return {'LATER'} end
  answers[#answers + 1] = status
  answers[#answers + 1] = ack_of(entry)
end

for key, block in pairs(entries) do
  local fields = show(block)
  if #fields > 0 then
    call('HSET', key, unpack(fields))
    call('PEXPIRE', key, int(KEPT_MS))
  end
end
for _, sequence in ipairs(unburied) do call('ZREMRANGEBYSCORE', dead, sequence, sequence) end
for sequence, why in pairs(buried) do call('ZADD', dead, sequence, sequence .. ':' .. why) end
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
return answers
