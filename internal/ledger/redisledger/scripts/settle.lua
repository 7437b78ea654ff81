-- KEYS player, outbox; ARGV the pair's id, player's name, nonce, currency,
-- the currency as records hold it, state, payout, its 7 bytes, worst case, picks
-- before, picks, slot of the outbox.
-- -> a round | NOTFOUND | PICKS | INTERRUPTED
local id, name, nonce, currency, packed, ending, payout, payout7, worst, before, picks, slot = unpack(ARGV)
ending, payout, worst = tonumber(ending), tonumber(payout), tonumber(worst)
local n = tonumber(nonce)
local h = read(KEYS[1])
local p = h and read_pair(id, h, name)
if not p or p.u ~= name then return {'NOTFOUND'} end
local record, stored, chips = read_round(id, n)
if not record then return {'NOTFOUND'} end
local mines = is_mines(record)

local at = mines and 27 or 26
if record:sub(at, at + #packed - 1) ~= packed then return broken('currency of the round') end
local b, x = 'b' .. currency, 'x' .. currency
local balance, exposure = units(h[b]), units(h[x] or '0')
if not balance or not exposure then return broken('balance') end
if state(record) ~= OPEN then return answer(n, record, stored, chips, {b, int(balance)}, p) end

if stored ~= before then return {'PICKS'} end
if picks ~= before then
  local life = fence()
  if not life then return broken('no master_replid') end
  if h.m ~= id .. '-' .. nonce .. '-' .. life then return {'INTERRUPTED'} end
end
if payout > worst or exposure < worst or balance + payout > MAX_UNITS then return broken('payout') end
local from, to = (p.o or ''):find(',' .. nonce .. ',', 1, true)
if not from then return broken('round is not among the open ones') end
if mines and (h.m or ''):match('^%w+-%d+') ~= id .. '-' .. nonce then return broken('open mines round') end

local ms = now()
local field = int(n % 128)
record = ended(record, ending, record:sub(2, 6)) .. number5(ms - EPOCH) .. payout7 .. record:sub(19)
local open = p.o:sub(1, from) .. p.o:sub(to + 1)
balance = int(balance + payout)

local block, offset = outbox_place(KEYS[2])
if not block then return broken('outbox') end
call('ZSCORE', tag .. ':open', id .. '-' .. nonce) -- fails now rather than between the writes
append_outbox(KEYS[2], block, offset, slot)

call('ZREM', tag .. ':open', id .. '-' .. nonce)
if picks ~= before then
  call('HSET', bucket('r', id, n), field, record, 'p' .. field, picks)
else
  call('HSET', bucket('r', id, n), field, record)
end
p.o = open ~= ',' and open or nil
if not p.e then
  call('HSET', KEYS[1], b, balance, x, int(exposure - worst), 'o', p.o or '')
else
  call('HSET', KEYS[1], b, balance, x, int(exposure - worst))
  if p.o then
    call('HSET', pair_key(id), 'o', p.o)
  else
    p.v = int(ms)
    call('HDEL', pair_key(id), 'o')
    call('HSET', pair_key(id), 'v', p.v)
  end
end
if mines then call('HDEL', KEYS[1], 'm') end
return answer(n, record, picks, chips, {b, balance}, p)
