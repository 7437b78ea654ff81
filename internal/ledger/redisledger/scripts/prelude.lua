-- Stands before every script. Its first key begins with the hash tag of the
-- player's partition, and every other key is made from that tag, so that a call
-- never leaves its slot. A call checks everything before its first write, and
-- answers a refusal as {'WORD', ...}, data that cannot be as {err = 'BROKEN ...'}.

local call = redis.call
local tag

-- enter begins a call with its first key. A step, of which one run makes many
-- calls, enters by itself.
local function enter(key) tag = key:sub(1, (key:find('}', 1, true))) end
enter(KEYS[1])

local SEALED = 61              -- bytes of a sealed server seed
local MAX_UNITS = 9007199254740991
local EPOCH = 1577836800000    -- 2020-01-01, in Unix milliseconds

local function broken(what) return {err = 'BROKEN ' .. what} end

-- int writes a whole number in full: tostring turns 1e14 into '1e+14'.
local function int(n) return string.format('%.0f', n) end

-- units reads an amount, nil when it is none: tonumber alone takes 'nan', and
-- no comparison with that is true.
local function units(text)
  return text and text:find('^%d+$') and tonumber(text)
end

-- fence names the life of the store that runs this script. It changes with
-- every restart and promotion, and with them every write may be lost. While a
-- script runs it cannot change, nor does the clock: both are read once a run.
local life, time
local function fence()
  if life then return life end
  local text = call('INFO', 'replication')
  local _, at = text:find('master_replid:', 1, true)
  life = at and text:match('^%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x', at + 1)
  return life
end

local function now()
  if not time then
    local t = call('TIME')
    time = t[1] * 1000 + math.floor(t[2] / 1000)
  end
  return time
end

-- read returns a hash as a table, nil when there is none.
local function read(key)
  local flat = call('HGETALL', key)
  if #flat == 0 then return nil end
  local t = {}
  for i = 1, #flat, 2 do t[flat[i]] = flat[i + 1] end
  return t
end

-- show is the inverse of read.
local function show(t)
  local flat, i = {}, 1
  for k, v in pairs(t) do
    flat[i], flat[i + 1], i = k, v, i + 2
  end
  return flat
end

-- A player, u:, is
--   c announced pair, k its sealed server seed, f fence under which both pairs
--   were made, l newest pair that has a record, m open mines round, with its
--   fence, b.. a balance, x.. what open rounds in it may pay at worst;
-- and while the pair l is active:
--   n next nonce, K sealed server seed, s client seed, p pair before, t created,
--   o open nonces ",5,6,".
-- A pair, s:, is u player; and, once it ended, k sealed server seed, s client
-- seed (none: it ended unused), p pair before, q pair announced when it was
-- activated, o open nonces, c created, e why it ended, n nonce of the bet that
-- never came, v revealed, d detail.
local function pair_key(id) return tag .. ':s:' .. id end

-- read_pair returns a pair of the player h, whose name is u, with the fields of
-- a pair wherever they are kept. A book of crash bets, which has a table g, looks
-- like one and is none.
local function read_pair(id, h, u)
  if h.n and h.l == id then
    return {id = id, u = u, k = h.K, s = h.s, p = h.p, q = h.c, o = h.o ~= '' and h.o or nil, c = h.t, n = h.n}
  end
  local p = read(pair_key(id))
  if not p or p.g then return nil end
  p.id = id
  return p
end

local function show_pair(p)
  return {p.id, p.u, p.k or '', p.s or '', p.p or '', p.q or '', p.o or '', p.c or '', p.n or '', p.e or '', p.v or '', p.d or ''}
end

-- read_active returns the active pair if all of it is there, else nil.
local function read_active(h, u)
  local p = read_pair(h.l, h, u)
  if p and units(p.n) and p.s and #(p.k or '') >= SEALED and call('HGET', pair_key(p.id), 'u') == u then return p end
end

-- end_pair gives an active pair a record of its own, and reveals it unless a
-- round of it is open.
local function end_pair(p, cause, ms, detail)
  p.e, p.d, p.v = cause, detail, not p.o and int(ms) or nil
  local record = {}
  for k, v in pairs(p) do
    if k ~= 'id' then record[k] = v end
  end
  call('HSET', pair_key(p.id), unpack(show(record)))
  call('HDEL', tag .. ':u:' .. p.u, 'n', 'K', 's', 'p', 't', 'o')
end
