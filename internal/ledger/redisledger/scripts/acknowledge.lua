-- KEYS outbox; ARGV operator, then groups of items: the pair's id, block of 128
-- nonces, token or '', '!' and the reason of rejected ones, else '', how many; and
-- of all items the nonces in the block, and then what entries of a: say after their
-- sequences. An item comes in a group before that of a repeat of it; else groups are
-- in no order, so a token that was good when the call came is so to its end.
-- -> {'OK', a status for each item, entries of a: that stand, one for each CONFLICT}
--    | LATER when one is not sorted yet: nothing was changed
local operator = ARGV[1]
local ready, dead = tag .. ':y:' .. operator, tag .. ':d:' .. operator
local DONE, ALREADY, STALE, CONFLICT, NOTFOUND = '1', '2', '3', '4', '5'
local ms = now()
local statuses, conflicts, players, changed, buried, unburied = {}, {}, {}, {}, {}, {}

local function player_of(name)
  local p = players[name]
  if p then return p end
  local kept = call('HMGET', tag .. ':k:' .. name, 'h', 'n', 'f', 'T')
  p = {h = kept[1] or '', n = tonumber(kept[2] or '0'), f = tonumber(kept[3] or '0'), T = kept[4] or nil, from = 1, fresh = {}}
  players[name] = p
  return p
end

-- remove takes a sequence, as 5 bytes, from what is pending of a player: from p.h,
-- which begins at p.from, or from those that nobody claimed.
local function remove(p, text)
  local h, from, at = p.h, p.from, nil
  if h:sub(from, from + 4) == text then
    p.from, p.f, at = from + 6, 0, from
  else
    at = from
    repeat
      at = h:find(text, at, true)
      if not at then
        p.fresh[#p.fresh + 1] = text
        return
      end
      at = at + 1
    until (at - from) % 6 == 1
    at = at - 1
    p.h = h:sub(1, at - 1) .. h:sub(at + 6)
  end
  if at - from < p.n * 6 then
    p.n = p.n - 1
    if p.n == 0 then p.over = true end
  end
end

-- decide returns the status of one item of a player, and the entry that it makes.
local function decide(p, entry, token, reported, why)
  local head, text = entry:byte(6), entry:sub(1, 5)
  if head >= DEAD * 16 then
    if why ~= '' then return ALREADY end
    if token ~= '' then return STALE end
    unburied[text], buried[text] = true, nil
  elseif head >= ACKNOWLEDGED * 16 then
    return why == '' and entry:sub(6) == reported and ALREADY or CONFLICT
  else
    if token ~= '' and token ~= p.T then return STALE end
    remove(p, text)
  end
  if why == '' then return DONE, text .. reported end
  buried[text] = why:sub(2)
  return DONE, text .. string.char(DEAD * 16)
end

local args, i = ARGV, 2
while i <= #args do
  local id, block, token, why, count = args[i], args[i + 1], args[i + 2], args[i + 3], tonumber(args[i + 4])
  local first, answers = i + 5, i + 4 + count
  i = first + 2 * count
  local name, key = call('HGET', pair_key(id), 'u'), tag .. ':a:' .. id .. ':' .. block
  local own = is_of(name, operator)
  local p = own and player_of(name)
  local entries = own and call('HMGET', key, unpack(args, first, answers)) or {}
  local before = changed[key]
  local made_of, writes = before and before.made or {}, before and before.writes or {}
  for k = 1, count do
    local field, status, made = args[first + k - 1], NOTFOUND, nil
    local entry = made_of[field] or entries[k]
    if own and not entry then entry = entry_of(operator, name, id, block * 128 + field) end
    if entry == LATER then return {LATER} end
    if entry then status, made = decide(p, entry, token, args[answers + k], why) end
    statuses[#statuses + 1] = status
    if status == CONFLICT then conflicts[#conflicts + 1] = entry end
    if made then
      made_of[field] = made
      local n = #writes
      writes[n + 1], writes[n + 2] = field, made
    end
  end
  changed[key] = before or {made = made_of, writes = writes}
end

for key, change in pairs(changed) do
  if #change.writes > 0 then
    call('HSET', key, unpack(change.writes))
    call('PEXPIRE', key, int(KEPT_MS))
  end
end
for text in pairs(unburied) do
  local sequence = int(read5(text, 1))
  call('ZREMRANGEBYSCORE', dead, sequence, sequence)
end
for text, why in pairs(buried) do
  local sequence = int(read5(text, 1))
  call('ZADD', dead, sequence, sequence .. ':' .. why)
end
for name, p in pairs(players) do
  local key, list, player = tag .. ':k:' .. name, tag .. ':l:' .. name, name:sub(#operator + 2)
  for _, sequence in ipairs(p.fresh) do call('LREM', list, 1, sequence) end
  local h = p.h:sub(p.from)
  if h == '' and call('EXISTS', list) == 0 then
    call('DEL', key)
    call('ZREM', ready, player)
  else
    if p.T and not p.over then
      call('HSET', key, 'h', h, 'n', int(p.n), 'f', int(p.f))
    else
      call('HSET', key, 'h', h, 'f', int(p.f))
      call('HDEL', key, 'n', 'T', 'E', 'C')
    end
    if p.over then call('ZADD', ready, int(ms), player) end
  end
end
return {'OK', table.concat(statuses), conflicts}
