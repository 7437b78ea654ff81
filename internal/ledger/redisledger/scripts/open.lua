-- KEYS player; ARGV player's name, offered pair, its sealed server seed, then
-- currency and amount of each grant.
-- -> {'OK', player, active pair or nothing}
local name, offer, sealed = ARGV[1], ARGV[2], ARGV[3]
local life = fence()
if not life then return broken('no master_replid') end

-- A player whom a deposit made has balances and no pair yet. He gets the grants
-- as anyone else, less those that his balance leaves no room for.
local h = read(KEYS[1]) or {}
if not h.c then
  if h.k or h.l or h.n then return broken('announced pair') end
  if call('EXISTS', pair_key(offer)) == 1 then return broken('offer was announced before') end
  for i = 4, #ARGV, 2 do
    local b, amount = 'b' .. ARGV[i], tonumber(ARGV[i + 1])
    local balance, exposure = units(h[b] or '0'), units(h['x' .. ARGV[i]] or '0')
    if not balance or not exposure then return broken('balance') end
    if balance + exposure + amount <= MAX_UNITS then h[b] = int(balance + amount) end
  end
  h.c, h.k, h.f = offer, sealed, life
  call('HSET', KEYS[1], unpack(show(h)))
  return {'OK', show(h), {}}
end

if #(h.k or '') < SEALED then return broken('announced server seed') end
local active = h.n and read_active(h, name)
if h.n and not active then return broken('active pair') end
if h.f == life then return {'OK', show(h), active and show_pair(active) or {}} end

-- The store was replaced: neither pair is used again, since the lost writes may
-- hold bets on the one and a rotation to the other.
if offer == h.c or call('EXISTS', pair_key(offer), pair_key(h.c)) > 0 then return broken('offer was announced before') end
-- A mines round that is open under a pair which had ended before is interrupted,
-- too: that is what its pair says from now on.
local mines = (h.m or ''):match('^%w+')
local interrupted = mines and (read_pair(mines, h, name) or {}).e
local ms = now()
if active then end_pair(active, 'T', ms) end
if interrupted then call('HSET', pair_key(mines), 'e', 'T') end
local unused = {u = name, k = h.k, e = 'T', n = '0', c = int(ms), v = int(ms), p = h.l}
call('HSET', pair_key(h.c), unpack(show(unused)))
h.l, h.c, h.k, h.f = h.c, offer, sealed, life
call('HSET', KEYS[1], 'l', h.l, 'c', h.c, 'k', h.k, 'f', h.f)
return {'OK', show(h), {}}
