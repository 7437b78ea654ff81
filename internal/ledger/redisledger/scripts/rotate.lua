-- KEYS player, his used client seeds; ARGV player's name, announced pair,
-- client seed, its digest, offered pair, its sealed server seed.
-- -> {'OK', pair before or nothing, active pair, announced pair, its sealed server seed}
--    | NOPAIR | CHANGED cause | STALE | USED | OPEN pair nonce
local name, id, client_seed, digest, offer, sealed = unpack(ARGV)
local h = read(KEYS[1])
if not h then return {'NOPAIR'} end

local function before(p)
  local previous = p.p and read_pair(p.p, h)
  return previous and show(previous) or {}
end

if id ~= h.c then
  local p = read_pair(id, h)
  if not p or p.u ~= name then return {'NOPAIR'} end
  if not p.s then return {'CHANGED', p.e} end
  if p.s ~= client_seed then
    call('SADD', KEYS[2], digest)
    return {'STALE'}
  end
  local key = h.k
  if p.q ~= h.c then key = call('HGET', pair_key(p.q), 'k') end
  if not key or #key < SEALED then return broken('announced server seed') end
  return {'OK', before(p), show(p), p.q, key}
end

local life = fence()
if not life then return broken('no master_replid') end
if h.f ~= life then return {'CHANGED', 'T'} end
if call('SISMEMBER', KEYS[2], digest) == 1 then return {'USED'} end
local old = h.n and read_pair(h.l, h)
if h.n and (not old or old.e) then return broken('active pair') end
if old and h.m then
  local pair, nonce = h.m:match('^(%w+)-(%d+)')
  if pair == h.l then return {'OPEN', pair, nonce} end
end
if #(h.k or '') < SEALED then return broken('announced server seed') end
if offer == id or call('EXISTS', pair_key(offer), pair_key(id)) > 0 then return broken('offer was announced before') end

local ms = now()
local p = {u = name, k = h.k, s = client_seed, q = offer, c = int(ms), p = h.l}
call('SADD', KEYS[2], digest)
if old then end_pair(old, 'R', ms) end
call('HSET', pair_key(id), unpack(show(p)))
call('HSET', KEYS[1], 'l', id, 'n', '0', 'c', offer, 'k', sealed)
p.id, p.n = id, '0'
return {'OK', before(p), show(p), offer, sealed}
