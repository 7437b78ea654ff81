-- KEYS duel; ARGV its id, operator, request id, white, black, mode, grace, expiry
-- and retention in ms, sealed server seed, commitment, and in plain mode the sealed
-- fallback seeds of white and black and their hashes.
-- -> {'OK' | REUSED, id, duel}: the duel that the request made first.
local id, operator, request, white, black, mode, grace, expiry, keep, sealed, commitment, fw, fb, jw, jb = unpack(ARGV)
local index = request_key(operator, request)
local known = call('GET', index)
if known and call('EXISTS', duel_key(known)) == 1 then
  return step(known, operator, '', function(r)
    local same = r.w == white and r.b == black and r.m == mode and r.g == grace and r.x == expiry
    return same and 'OK' or 'REUSED'
  end)
end

local life = fence()
if not life then return broken('no master_replid') end
if call('EXISTS', duel_key(id)) == 1 then return broken('duel was made before') end
local ms = now()
local r = {
  o = operator, q = request, a = keep, w = white, b = black, m = mode, k = sealed, c = commitment, f = life, g = grace, x = expiry,
  t = int(ms), l = int(ms), v = '1', n = '0', d = '', fw = fw, fb = fb, jw = jw, jb = jb,
}
save(id, r, {})
call('SET', index, id)
return answer('OK', id, r)
