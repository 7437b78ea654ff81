-- Stands before every script of duels. KEYS[1] begins with the hash tag of a
-- partition, and every other key is made from that tag, so that a script never
-- leaves its slot. A script changes a table, writes it once at its end with
-- save, and answers with all of it: {'OK' or a refusal, id, {field, value, ...}}.
-- Data that cannot be are {err = 'BROKEN ...'}.
--
-- A duel, d:, is
--   o operator, w b players, m mode c or p, k sealed server seed, c commitment,
--   f fence under which it was made, g grace and x expiry in ms,
--   t created, l last action, v version, n rolls,
--   d deadline of the grace period that runs, '' for none,
--   q request id, a how long it is kept after its end, in ms;
-- and for each seat w and b, once it is there:
--   pw when it first called, hw its hash, sw its client seed,
--   fw sealed fallback seed and jw its hash (plain mode, from creation);
--   z '1' when both effective client seeds are fixed;
-- and once it ended:
--   e how: E ended, F forfeited, V void; y why: S game server, G grace period,
--   X expiry, T store replaced; u when; i the seats that forfeited.
-- Unended duels, do, by the time when something is due. A request, dr:, is the
-- id of its duel. Both the duel and its request are gone some time after the
-- end, and never before it.

local call = redis.call
local tag = KEYS[1]:sub(1, (KEYS[1]:find('}', 1, true)))
local OPEN = tag .. ':do'

local function broken(what) return {err = 'BROKEN ' .. what} end

-- int writes a whole number in full: tostring turns 1e14 into '1e+14'.
local function int(n) return string.format('%.0f', n) end

local function number(text) return text and text:find('^%d+$') and tonumber(text) end

local function duel_key(id) return tag .. ':d:' .. id end

local function request_key(operator, request) return tag .. ':dr:' .. operator .. ':' .. request end

-- fence names the life of the store that runs this script. It changes with
-- every restart and promotion, and with them every write may be lost.
local function fence()
  local text = call('INFO', 'replication')
  local _, at = text:find('master_replid:', 1, true)
  return at and text:match('^%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x', at + 1)
end

local function now()
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function sound(r)
  for _, k in ipairs({'g', 'x', 'a', 't', 'l', 'v', 'n'}) do
    if not number(r[k]) then return false end
  end
  return r.o and r.q and r.w and r.b and r.f and #(r.k or '') == 61 and #(r.c or '') == 32 and (r.m == 'c' or r.m == 'p')
    and (r.d == '' or number(r.d))
end

-- load returns a duel as a table, and as it is stored; nil when there is none.
local function load(id)
  local flat = call('HGETALL', duel_key(id))
  if #flat == 0 then return nil end
  local r, old = {}, {}
  for i = 1, #flat, 2 do r[flat[i]], old[flat[i]] = flat[i + 1], flat[i + 1] end
  return r, old
end

-- save writes what changed, the index first: it cannot fail after a write.
local function save(id, r, old)
  local flat = {}
  for k, v in pairs(r) do
    if old[k] ~= v then flat[#flat + 1], flat[#flat + 2] = k, v end
  end
  if #flat == 0 then return end
  if r.e then
    call('ZREM', OPEN, id)
  else
    local due = r.l + r.x
    if r.d ~= '' then due = math.min(due, tonumber(r.d)) end
    call('ZADD', OPEN, int(due), id)
  end
  call('HSET', duel_key(id), unpack(flat))
  if r.e and not old.e then
    call('PEXPIRE', duel_key(id), r.a)
    call('PEXPIRE', request_key(r.o, r.q), r.a)
  end
  call('PUBLISH', tag .. ':dn:' .. id, r.v) -- a hint, to nobody or to watchers
end

local function answer(word, id, r)
  local flat = {}
  for k, v in pairs(r) do flat[#flat + 1], flat[#flat + 2] = k, v end
  return {word, id, flat}
end

local function bump(r) r.v = int(r.v + 1) end

-- act notes that somebody did something.
local function act(r, ms)
  r.l = int(ms)
  bump(r)
end

local function finish(r, how, why, ms, seats)
  r.e, r.y, r.u, r.i, r.d = how, why, int(ms), seats or '', ''
  bump(r)
end

-- fix says that the effective client seeds are what they are.
local function fix(r) r.z, r.d = '1', '' end

-- pass does what time alone does. A store that was replaced may have lost any
-- step, the end and its reveal too: what is left is void, whatever it is.
local function pass(r, ms, life)
  if r.e then return end
  if r.f ~= life then return finish(r, 'V', 'T', ms) end
  if r.d ~= '' and ms >= tonumber(r.d) then
    if r.m == 'p' and (r.sw or r.sb) then
      fix(r)
      bump(r)
    elseif r.hw and r.hb then
      return finish(r, 'F', 'G', ms, (r.sw and '' or 'w') .. (r.sb and '' or 'b'))
    else
      return finish(r, 'V', 'G', ms)
    end
  end
  if ms >= r.l + r.x then finish(r, r.z and 'E' or 'V', 'X', ms) end
end

-- greet notes that a seat is there. The grace period starts with the second.
local function greet(r, seat, ms)
  if r.e or r['p' .. seat] then return end
  r['p' .. seat] = int(ms)
  act(r, ms)
  if r.pw and r.pb then r.d = int(ms + r.g) end
end

-- seat_of returns the seat of a player, nil for a stranger.
local function seat_of(r, player)
  return player == r.w and 'w' or player == r.b and 'b' or nil
end

-- step reads a duel, lets time pass, and gives it to change(r, ms), which
-- returns a word. An operator of '' stands for anybody; a player of '' for the
-- operator's game server.
local function step(id, operator, player, change)
  local r, old = load(id)
  if not r then return {'NONE'} end
  if not sound(r) then return broken('duel') end
  if operator ~= '' and operator ~= r.o then return {'NONE'} end
  local seat = seat_of(r, player)
  if player ~= '' and not seat then return {'NONE'} end
  local life = fence()
  if not life then return broken('no master_replid') end
  local ms = now()
  pass(r, ms, life)
  if seat then greet(r, seat, ms) end
  local word = change(r, ms, seat)
  save(id, r, old)
  return answer(word, id, r)
end
