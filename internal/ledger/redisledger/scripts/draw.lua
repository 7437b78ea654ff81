-- KEYS player, outbox; ARGV the pair's id, player's name, digest of the bet's
-- id, its first four bytes as a number, record, its content, stake, worst case,
-- currency, chips, '1' for mines, '1' to refuse; and, for a bet that is decided
-- already: the nonce that it was decided for, payout, its 7 bytes, slot of the
-- outbox.
-- -> a round | NOPAIR | CHANGED cause nonce | REUSED nonce | OPEN pair nonce nonce
--    | REFUSED nonce | FUNDS nonce balance | LIMIT nonce
local id, name, digest, spread, record, content, stake, worst, currency, chips, mines, refuse,
  decided, payout, payout7, slot = unpack(ARGV)
stake, worst, spread = tonumber(stake), tonumber(worst), tonumber(spread)

local h = read(KEYS[1])
local p = h and read_pair(id, h, name)
if not p or p.u ~= name then return {'NOPAIR'} end
local nonce = units(p.n)
if not nonce then return broken('pair without a nonce') end
local balance = units(h['b' .. currency] or '0')
local exposure = units(h['x' .. currency] or '0')
if not balance or not exposure then return broken('balance') end

-- The index of bet ids has levels: level i holds 256 * 2^i nonces in 2^i hashes.
local function level_key(level) return tag .. ':i:' .. id .. ':' .. int(level) .. ':' .. int(spread % 2 ^ level) end

local level, first, size = 0, 0, 256
while first < nonce do
  local found = call('HGET', level_key(level), digest)
  if found then
    local r, picks, c = read_round(id, tonumber(found))
    if not r then return broken('index without a round') end
    if r:byte(1) % 64 ~= record:byte(1) % 64 or r:sub(-#content) ~= content or c ~= chips
      or #r ~= #record then
      return {'REUSED', p.n}
    end
    return answer(tonumber(found), r, picks, c, {'b' .. currency, int(balance)}, p)
  end
  if nonce < first + size then break end
  level, first, size = level + 1, first + size, size * 2
end

if p.e then return {'CHANGED', p.e, p.n} end
local life = fence()
if not life then return broken('no master_replid') end
if h.f ~= life then return {'CHANGED', 'T', p.n} end
if #(p.k or '') < SEALED or not p.s then return broken('server seed') end
if nonce > 4294967294 then
  if not read_active(h, name) then return broken('active pair') end
  end_pair(p, 'X', now())
  return {'CHANGED', 'X', p.n}
end
if mines == '1' and h.m then
  local open, n = h.m:match('^(%w+)-(%d+)')
  if not open then return broken('open mines round') end
  return {'OPEN', open, n, p.n}
end
if refuse == '1' then return {'REFUSED', p.n} end
if balance < stake then return {'FUNDS', p.n, int(balance)} end
if balance - stake + exposure + worst > MAX_UNITS then return {'LIMIT', p.n} end

local ms = now()
local field, text = int(nonce % 128), p.n
local created = number5(ms - EPOCH)
p.n = int(nonce + 1)

-- The bet was decided for the nonce that it gets: it is settled in this step,
-- and never open.
if text == decided then
  payout = tonumber(payout)
  if payout > worst then return broken('payout') end
  local block, offset = outbox_place(KEYS[2])
  if not block then return broken('outbox') end
  -- These fail now rather than between the writes.
  call('HEXISTS', bucket('r', id, nonce), field)
  if chips ~= '' then call('HEXISTS', bucket('c', id, nonce), field) end
  call('HEXISTS', level_key(level), digest)
  append_outbox(KEYS[2], block, offset, slot)
  record = ended(record, SETTLED, created) .. created .. payout7 .. record:sub(19)
  balance = int(balance - stake + payout)
  call('HSET', bucket('r', id, nonce), field, record)
  if chips ~= '' then call('HSET', bucket('c', id, nonce), field, chips) end
  call('HSET', level_key(level), digest, text)
  call('HSET', KEYS[1], 'n', p.n, 'b' .. currency, balance)
  return answer(nonce, record, '', chips, {'b' .. currency, balance}, p)
end

record = record:sub(1, 1) .. created .. record:sub(7)
balance = int(balance - stake)
p.o = (p.o or ',') .. text .. ','

-- Should a write fail after all, because a key is of another type, then those
-- that stand before the money leave nothing that a later bet does not replace.
call('ZADD', tag .. ':open', int(ms), id .. '-' .. text)
call('HSET', bucket('r', id, nonce), field, record)
if chips ~= '' then call('HSET', bucket('c', id, nonce), field, chips) end
call('HSET', level_key(level), digest, text)
if mines == '1' then
  call('HSET', KEYS[1], 'n', p.n, 'o', p.o, 'b' .. currency, balance, 'x' .. currency, int(exposure + worst),
    'm', id .. '-' .. text .. '-' .. life)
else
  call('HSET', KEYS[1], 'n', p.n, 'o', p.o, 'b' .. currency, balance, 'x' .. currency, int(exposure + worst))
end
return answer(nonce, record, '', chips, {'b' .. currency, balance}, p)
