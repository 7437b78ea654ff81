-- KEYS player; ARGV player's name, offered pair, its sealed server seed, then
-- currency and amount of each grant.
-- -> {'OK', player, active pair or nothing}
local name, offer, sealed = ARGV[1], ARGV[2], ARGV[3]
local life = fence()
if not life then return broken('no master_replid') end

local h = read(KEYS[1])
if not h then
  if call('EXISTS', pair_key(offer)) == 1 then return broken('offer was announced before') end
  h = {c = offer, k = sealed, f = life}
  for i = 4, #ARGV, 2 do h['b' .. ARGV[i]] = ARGV[i + 1] end
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
