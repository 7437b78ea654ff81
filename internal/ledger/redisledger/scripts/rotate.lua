-- KEYS player, his used client seeds; ARGV player's name, announced pair,
-- client seed, its digest, offered pair, its sealed server seed.
-- -> {'OK', pair before or nothing, active pair, announced pair, its sealed server seed}
--    | NOPAIR | CHANGED cause | STALE | USED | OPEN pair nonce
local name, id, client_seed, digest, offer, sealed = unpack(ARGV)
local h = read(KEYS[1])
if not h then return {'NOPAIR'} end

local function before(p)
  local previous = p.p and read_pair(p.p, h, name)
  return previous and show_pair(previous) or {}
end

-- burnt refuses a client seed for good: the commitment that it is sent with next
-- may be younger than it, and so could have been chosen to suit it.
local function burnt(refusal)
  call('SADD', KEYS[2], digest)
  return refusal
end

if id ~= h.c then
  local p = read_pair(id, h, name)
  if not p or p.u ~= name then
    local last = h.l and read_pair(h.l, h, name)
    if last and last.e == 'T' then return burnt {'NOPAIR'} end
    return {'NOPAIR'}
  end
  if not p.s then return burnt {'CHANGED', p.e} end
  if p.s ~= client_seed then return burnt {'STALE'} end
  local key = h.k
  if p.q ~= h.c then key = (read_pair(p.q, h, name) or {}).k end
  if #(key or '') < SEALED then return broken('announced server seed') end
  return {'OK', before(p), show_pair(p), p.q, key}
end

local life = fence()
if not life then return broken('no master_replid') end
if h.f ~= life then return burnt {'CHANGED', 'T'} end
if call('SISMEMBER', KEYS[2], digest) == 1 then return {'USED'} end
local old = h.n and read_active(h, name)
if h.n and not old then return broken('active pair') end
if old and h.m then
  local pair, nonce = h.m:match('^(%w+)-(%d+)')
  if pair == h.l then return {'OPEN', pair, nonce} end
end
if #(h.k or '') < SEALED then return broken('announced server seed') end
if offer == id or call('EXISTS', pair_key(offer), pair_key(id)) > 0 then return broken('offer was announced before') end

local ms = now()
local p = {id = id, u = name, k = h.k, s = client_seed, p = h.l, q = offer, c = int(ms), n = '0'}
call('SADD', KEYS[2], digest)
if old then end_pair(old, 'R', ms) end
call('HSET', pair_key(id), 'u', name)
call('HSET', KEYS[1], 'l', id, 'n', p.n, 'K', p.k, 's', p.s, 't', p.c, 'c', offer, 'k', sealed)
if p.p then call('HSET', KEYS[1], 'p', p.p) end
return {'OK', old and show_pair(old) or before(p), show_pair(p), offer, sealed}
