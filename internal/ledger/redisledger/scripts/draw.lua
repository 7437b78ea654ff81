-- find_bet looks for a bet of a pair, the next nonce of which is given, by the
-- digest of its id. It returns the bet's nonce, or nil, and the key of the index
-- where the next bet goes. The index has levels: level i holds 128 * 16^i nonces
-- in 16^i hashes, which the first four bytes of the digest pick. So few levels
-- have to be asked, and a hash stays small enough to be searched quickly.
local function find_bet(id, nonce, digest)
  local index, level, hashes, last = tag .. ':i:' .. id .. ':', 0, 1, 127
  local a, b, c, d = digest:byte(1, 4)
  local spread = ((a * 256 + b) * 256 + c) * 256 + d
  while true do
    local key = index .. level .. ':' .. spread % hashes
    local found = call('HGET', key, digest)
    if found then return tonumber(found), key end
    if nonce <= last then return nil, key end
    level, hashes = level + 1, hashes * 16
    last = last + 128 * hashes
  end
end

-- A step. Keys player, outbox; arguments the pair's id, digest of the bet's id,
-- record, the number of its bytes that are content, stake, worst case, currency,
-- chips, '1' to refuse; and, for a bet that is decided already, with
-- its payout in the record: the nonce that it was decided for (else ''), payout,
-- slot of the outbox.
-- -> {'SETTLED', time, balance}, of a bet settled now as it was decided
--    | a round | NOPAIR | CHANGED cause nonce | REUSED nonce | OPEN pair nonce nonce
--    | REFUSED nonce | FUNDS nonce balance | LIMIT nonce
local function step(player, outbox, id, digest, record, content, stake, worst, currency, chips, refuse, decided, payout, slot)
  enter(player)
  stake, worst, content = tonumber(stake), tonumber(worst), tonumber(content)
  local name, b, x = player:sub(#tag + 4), 'b' .. currency, 'x' .. currency
  local made, newest, n, sealed, client_seed, open, mines, balance, exposure =
    unpack(call('HMGET', player, 'f', 'l', 'n', 'K', 's', 'o', 'm', b, x))

  local past -- the pair, when it is not the active one
  if newest ~= id or not n then
    past = read(pair_key(id))
    if not past or past.u ~= name then return {'NOPAIR'} end
    n = past.n
  end
  local nonce = units(n)
  if not nonce then return broken('pair without a nonce') end
  balance, exposure = units(balance or '0'), units(exposure or '0')
  if not balance or not exposure then return broken('balance') end

  local found, index = find_bet(id, nonce, digest)
  if found then
    local r, picks, c = read_round(id, found)
    if not r then return broken('index without a round') end
    if r:byte(1) % 64 ~= record:byte(1) % 64 or r:sub(-content) ~= record:sub(-content) or c ~= chips or #r ~= #record then
      return {'REUSED', n}
    end
    return answer(found, r, picks, c, {b, int(balance)}, read_pair(id, read(player), name))
  end

  if past then
    if not past.e then return broken('pair without an end') end
    return {'CHANGED', past.e, n}
  end
  local life = fence()
  if not life then return broken('no master_replid') end
  if made ~= life then return {'CHANGED', 'T', n} end
  if #(sealed or '') < SEALED or not client_seed then return broken('server seed') end
  if nonce > 4294967294 then
    local p = read_active(read(player), name)
    if not p then return broken('active pair') end
    end_pair(p, 'X', now())
    return {'CHANGED', 'X', n}
  end
  if mines and is_mines(record) then
    local other, m = mines:match('^(%w+)-(%d+)')
    if not other then return broken('open mines round') end
    return {'OPEN', other, m, n}
  end
  if refuse == '1' then return {'REFUSED', n} end
  if balance < stake then return {'FUNDS', n, int(balance)} end
  if balance - stake + exposure + worst > MAX_UNITS then return {'LIMIT', n} end

  local ms = now()
  local created = number5(ms - EPOCH)
  local field, rounds, after = int(nonce % 128), bucket('r', id, nonce), int(nonce + 1)

  -- Should a write fail after all, because a key is of another type, then those
  -- before it leave nothing that counts, or that a later bet does not replace.
  -- The keys that count are written last, and were read above.

  -- The bet was decided for the nonce that it gets: it is settled in this step,
  -- and never open.
  if n == decided then
    payout = tonumber(payout)
    if payout > worst then return broken('payout') end
    local block, offset = outbox_end(outbox)
    if not block then return broken('outbox') end
    balance = balance - stake + payout
    if chips ~= '' then call('HSET', bucket('c', id, nonce), field, chips) end
    write_slot(block, offset, slot)
    call('HSET', rounds, field, ended(record, SETTLED, created) .. created .. record:sub(12))
    call('HSET', index, digest, n)
    call('INCR', outbox)
    call('HSET', player, 'n', after, b, int(balance))
    return {'SETTLED', ms, balance}
  end

  record = record:sub(1, 1) .. created .. ('\0'):rep(12) .. record:sub(19)
  local of_mines = is_mines(record) and id .. '-' .. n .. '-' .. life or nil
  call('ZADD', tag .. ':open', int(ms), id .. '-' .. n)
  if chips ~= '' then call('HSET', bucket('c', id, nonce), field, chips) end
  call('HSET', rounds, field, record)
  call('HSET', index, digest, n)
  balance = balance - stake
  open = (open and open ~= '' and open or ',') .. n .. ','
  if of_mines then
    call('HSET', player, 'n', after, 'o', open, b, int(balance), x, int(exposure + worst), 'm', of_mines)
  else
    call('HSET', player, 'n', after, 'o', open, b, int(balance), x, int(exposure + worst))
  end
  return answer(nonce, record, '', chips, {b, int(balance)}, read_pair(id, read(player), name))
end
